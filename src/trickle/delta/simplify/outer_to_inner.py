"""σ_p(L ⟕ R) = σ_p(L ⋈ R) where p is never true of a padded row: a join's change is smaller than a padding's."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from trickle.plan import Filter, Join, Node, OuterJoin, SemiJoin, conjuncts, rebuild

_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_STRICT = (exp.Paren, exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.Div)
"""Expressions that are NULL if an operand is; as comparisons are."""


def outer_to_inner(plan: Node) -> Node:
    """The plan without padding that a filter above takes away again."""
    return rebuild(plan, _tighten)


def _tighten(node: Node) -> Node:
    if isinstance(node, Filter):
        return replace(node, input=_unpadded(node.input, conjuncts(node.condition)))
    return node


def _unpadded(node: Node, conditions: tuple[exp.Expr, ...]) -> Node:
    match node:
        case Filter():
            return replace(node, input=_unpadded(node.input, conditions))
        case SemiJoin():
            return replace(node, left=_unpadded(node.left, conditions))
        case Join():
            return replace(node, parts=tuple(_unpadded(part, conditions) for part in node.parts))
        case OuterJoin() if not node.full:
            left = _unpadded(node.left, conditions)
            if any(_rejects_null(c, frozenset(node.right.names)) for c in conditions):
                return Join((left, node.right), node.on)
            return replace(node, left=left)
        case _:
            return node


def _rejects_null(condition: exp.Expr, names: frozenset[str]) -> bool:
    """Is the condition not true if all these columns are NULL?"""
    bare = condition.unnest()
    return isinstance(bare, _COMPARISONS) and any(_is_null_of(side, names) for side in (bare.left, bare.right))


def _is_null_of(expression: exp.Expr, names: frozenset[str]) -> bool:
    """Is the expression NULL if all these columns are?"""
    if isinstance(expression, exp.Column):
        return expression.name in names
    return isinstance(expression, _STRICT) and any(_is_null_of(e, names) for e in expression.iter_expressions())
