"""Recursions, round by round: what the rows found last give rise to.

    found₀ = base
    foundₙ₊₁ = Δstep(foundₙ) − known        semi-naive: only derivations that use a row found last

A round reads the recursion itself in three versions: CHANGES are the rows found last, AFTER is all that is known,
BEFORE is what was known without them.
"""

from __future__ import annotations

from dataclasses import replace

from trickle.delta.differentiate import differentiate
from trickle.delta.simplify import flatten, simplify
from trickle.plan import Distinct, Node, Project, Scan, Version, keep, rebuild
from trickle.plan.recursion import Recursion


def begin(recursion: Recursion, version: Version) -> Node:
    """The rows to begin with, of the sources in this version."""
    base = simplify(flatten(recursion.base))
    return _of_sources(Distinct(base) if recursion.distinct else base, recursion, version)


def advance(recursion: Recursion, version: Version) -> Node:
    """The rows that those found last give rise to; some may be known."""
    found = differentiate(recursion.step, recursion.sources)
    return _of_sources(Project(found, keep(recursion.columns)), recursion, version)


def _of_sources(plan: Node, recursion: Recursion, version: Version) -> Node:
    def move(node: Node) -> Node:
        if isinstance(node, Scan) and node.table != recursion.table:
            return replace(node, version=version)
        return node

    return rebuild(plan, move)
