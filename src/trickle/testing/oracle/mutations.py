"""Deliberately broken rules: an oracle that does not catch them proves nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from trickle.delta import Rule
from trickle.plan import WEIGHT, Item, Node, Project, Scan, UnionAll, Version, col, empty, keep, rebuild

Mutation = Callable[[Node], Node]


def flip_sign(delta: Node) -> Node:
    """What came counts as gone."""
    rows = [c for c in delta.columns if c.name != WEIGHT]
    weight = next(c for c in delta.columns if c.name == WEIGHT)
    return Project(delta, (*keep(rows), Item(weight, exp.Neg(this=col(WEIGHT)))))


def swap_states(delta: Node) -> Node:
    """The last term reads before where it should read after, and the other way round.

    (Not all terms: a join whose every term is swapped is right again.)
    """
    if isinstance(delta, UnionAll):
        return replace(delta, parts=(*delta.parts[:-1], rebuild(delta.parts[-1], _swapped)))
    return rebuild(delta, _swapped)


def drop_term(delta: Node) -> Node:
    """The last term is forgotten."""
    if not isinstance(delta, UnionAll):
        return delta
    kept = delta.parts[:-1]
    return replace(delta, parts=(*kept, empty(delta.parts[-1].columns)))


MUTATIONS: dict[str, Mutation] = {
    "flipped sign": flip_sign,
    "before and after swapped": swap_states,
    "dropped term": drop_term,
}


def broken(rule: Rule, mutation: Mutation) -> Rule:
    """The rule with its answer spoiled."""
    return lambda node, *changes: mutation(rule(node, *changes))


def _swapped(node: Node) -> Node:
    if isinstance(node, Scan) and node.version is Version.BEFORE:
        return replace(node, version=Version.AFTER)
    if isinstance(node, Scan) and node.version is Version.AFTER:
        return replace(node, version=Version.BEFORE)
    return node
