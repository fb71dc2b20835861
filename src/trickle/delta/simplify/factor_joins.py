"""(R ⋈ S) ⊎ (T ⋈ S) = (R ⊎ T) ⋈ S."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from trickle.plan import Join, Node, UnionAll, all_of, conjuncts, rebuild, references


def factor_joins(plan: Node) -> Node:
    """Unions of joins, with what all of them join written once: the terms of a change share what did not change."""
    return rebuild(plan, _factor)


def _factor(node: Node) -> Node:
    joins = node.parts if isinstance(node, UnionAll) else ()
    first, *others = joins or (node,)
    if not others or not isinstance(first, Join):
        return node
    conditions = conjuncts(first.on)
    if not all(isinstance(j, Join) and set(conjuncts(j.on)) == set(conditions) for j in others):
        return node
    shared = [part for part in first.parts if all(part in j.inputs for j in others)]
    apart = _separable(first, shared, conditions)
    if not apart:
        return node
    names = frozenset(name for part in first.parts if part not in apart for name in part.names)
    inside = tuple(c for c in conditions if references(c) and references(c) <= names)
    outside = tuple(c for c in conditions if c not in inside)
    cores = tuple(_core([p for p in j.inputs if p not in apart], inside) for j in joins)
    return Join((UnionAll(cores), *apart), all_of(outside))


def _core(parts: Sequence[Node], conditions: Iterable[exp.Expr]) -> Node:
    return parts[0] if len(parts) == 1 else Join(tuple(parts), all_of(conditions))


def _separable(join: Join, shared: Sequence[Node], conditions: Sequence[exp.Expr]) -> list[Node]:
    """The shared parts that may be joined last: without them, equalities still hold the others together."""
    core = [part for part in join.parts if part not in shared]
    if len(core) == len(join.parts) or not core:
        return []
    for bridge in ([], *([part] for part in shared)):
        if _connected([*core, *bridge], conditions):
            return [part for part in shared if part not in bridge]
    return []


def _connected(parts: Sequence[Node], conditions: Sequence[exp.Expr]) -> bool:
    """Do equalities link all parts, directly or through each other?"""
    owner = {name: n for n, part in enumerate(parts) for name in part.names}
    reached, grown = {0}, True
    while grown:
        grown = False
        for condition in conditions:
            if isinstance(condition, exp.EQ | exp.NullSafeEQ) and references(condition) <= owner.keys():
                met = {owner[name] for name in references(condition)}
                if met & reached and not met <= reached:
                    reached |= met
                    grown = True
    return len(reached) == len(parts)
