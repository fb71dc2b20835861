"""Recursions, round by round: what the rows found last give rise to.

    found₀ = base
    foundₙ₊₁ = Δstep(foundₙ) − known        semi-naive: only derivations that use a row found last

A round reads the recursion itself in three versions: CHANGES are the rows found last, AFTER is all that is known,
BEFORE is what was known without them. Where a recursion only gains rows when its sources do, its change is found
without computing it anew (delete and rederive):

    D = lost, and the rows that stem from it         all that might be gone
    N = D ∩ derived(R° − D), gained, and the rows that stem from these, not in R° − D
    ΔR = N − D
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from trickle.delta.differentiate import differentiate
from trickle.delta.explain import Strategy
from trickle.delta.growth import only_adds
from trickle.delta.simplify import flatten, simplify
from trickle.delta.state.storage import Storage
from trickle.delta.weights import consolidate
from trickle.plan import (
    WEIGHT,
    Distinct,
    Filter,
    Node,
    Project,
    Scan,
    UnionAll,
    Version,
    both,
    col,
    keep,
    number,
    rebuild,
)
from trickle.plan.recursion import Recursion


def begin(recursion: Recursion, version: Version) -> Node:
    """The rows to begin with, of the sources in this version."""
    base = simplify(flatten(recursion.base))
    return _of_sources(Distinct(base) if recursion.distinct else base, recursion, version)


def advance(recursion: Recursion, version: Version) -> Node:
    """The rows that those found last give rise to; some may be known."""
    found = differentiate(recursion.step, recursion.sources)
    return _of_sources(Project(found, keep(recursion.columns)), recursion, version)


def derived(recursion: Recursion) -> Node:
    """What the base, and the step of the rows AFTER, give at the target."""
    return simplify(flatten(UnionAll((recursion.base, recursion.step))))


def lost(recursion: Recursion, unchanged: frozenset[str]) -> Node:
    """Rows BEFORE that were derived from a row that went, perhaps also from others."""
    return _touched(recursion, unchanged, exp.LT, Version.BEFORE)


def gained(recursion: Recursion, unchanged: frozenset[str]) -> Node:
    """Rows derived from a row that came, and from rows AFTER."""
    return _touched(recursion, unchanged, exp.GT, Version.AFTER)


def obstacle(recursion: Recursion) -> str:
    """Why its change is the difference of two computations; empty if it need not be."""
    if not recursion.distinct:
        return "with UNION ALL copies count, and nothing stored tells how many a row that went had caused"
    if not recursion.linear:
        return "it joins itself with itself"
    if not (only_adds(recursion.base) and only_adds(recursion.step)):
        return "it may lose rows when its sources gain some"
    return ""


def strategy(recursion: Recursion, storage: Storage) -> Strategy:
    """How the change of a recursion is computed, and why."""
    read = tuple(sorted(recursion.sources))
    why = obstacle(recursion)
    if why:
        return Strategy(f"Recursion {recursion.label}", "recompute", f"before and after: {why}", read)
    held = "the stored rows" if stored_as(recursion, storage) else "its state before, computed anew"
    reason = f"rows that lost a derivation are deleted and rederived, rows that came carried on, from {held}"
    return Strategy(f"Recursion {recursion.label}", "rederive", reason, read)


def stored_as(recursion: Recursion, storage: Storage) -> dict[str, str] | None:
    """Which stored column holds each column of the recursion; None if the stored rows are not its rows."""
    if storage.aggregate is not None:
        return None
    node, below = storage.plan, {name: name for name in storage.plan.names}
    while isinstance(node, Project):
        inner = {i.name: i.expression.name for i in node.items if isinstance(i.expression, exp.Column)}
        below = {name: inner[source] for name, source in below.items() if source in inner}
        node = node.input
    if not isinstance(node, Scan) or node.table != recursion.table:
        return None
    labels = dict(zip(storage.plan.names, storage.labels, strict=True))
    found = {source: labels[name] for name, source in below.items()}
    return found if found.keys() == set(recursion.base.names) else None


def _touched(recursion: Recursion, unchanged: frozenset[str], sign: type[exp.Binary], version: Version) -> Node:
    """Rows that some changed row of this sign has a part in, the rest read in one version."""
    both_parts = UnionAll((recursion.base, recursion.step))
    change = differentiate(both_parts, (unchanged & recursion.sources) | {recursion.table})

    def move(node: Node) -> Node:
        if not isinstance(node, Scan):
            return node
        if node.version is not Version.CHANGES:
            return replace(node, version=version)
        # Net: a row that came and went within the window stands in neither state.
        return Filter(consolidate(node), both(col(WEIGHT), number(0), sign))

    return Distinct(Project(rebuild(change, move), keep(recursion.columns)))


def _of_sources(plan: Node, recursion: Recursion, version: Version) -> Node:
    def move(node: Node) -> Node:
        if isinstance(node, Scan) and node.table != recursion.table:
            return replace(node, version=version)
        return node

    return rebuild(plan, move)
