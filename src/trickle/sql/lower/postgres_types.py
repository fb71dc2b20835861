"""What PostgreSQL does with a value depends on its type, where Spark does something else."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from trickle.plan import type_of
from trickle.sql.lower.context import Context
from trickle.sql.lower.refuse import wrong
from trickle.sql.lower.scope import Scope

_FLOATS = ("FLOAT", "DOUBLE")


def as_postgres_means(bound: exp.Expr, parts: Sequence[exp.Expr], scope: Scope, context: Context) -> exp.Expr:
    """A bound expression whose parts do to Spark's values what PostgreSQL's do; those inside come first.

    Casts to whole numbers round, floats to the even neighbour; the difference of two days is a number.
    """
    for node in reversed(parts):
        meant = _meant(node, scope, context)
        if node is bound:
            return meant
        if meant is not node:
            node.replace(meant)
    return bound


def _meant(node: exp.Expr, scope: Scope, context: Context) -> exp.Expr:
    match node:
        case exp.Cast() if node.to.is_type(*exp.DataType.INTEGER_TYPES):
            return _rounded(node, scope, context)
        case exp.Round() if node.args.get("decimals") is None and _kind(node.this, scope) in _FLOATS:
            return exp.Anonymous(this="RINT", expressions=[node.this.copy()])
        case exp.Sub() if {_kind(node.left, scope), _kind(node.right, scope)} == {"DATE"}:
            return exp.Anonymous(this="DATEDIFF", expressions=[node.left.copy(), node.right.copy()])
    return node


def _rounded(node: exp.Cast, scope: Scope, context: Context) -> exp.Expr:
    kind = _kind(node.this, scope)
    if kind is None:
        hint = "say which: cast round(…) or floor(…) of it."
        raise wrong("whether the cast rounds cannot be seen", node, context.text, hint)
    if kind in _FLOATS:
        rounded: exp.Expr = exp.Anonymous(this="RINT", expressions=[node.this.copy()])
    elif kind == "DECIMAL":
        rounded = exp.Round(this=node.this.copy())
    else:
        return node
    return exp.Cast(this=rounded, to=node.to.copy())


def _kind(expression: exp.Expr, scope: Scope) -> str | None:
    """The type's name without its parameters."""
    if isinstance(expression.unnest(), exp.Literal | exp.Neg) and not expression.find(exp.Column):
        literal = expression.find(exp.Literal)
        if literal is not None and not literal.is_string:
            return "INT" if literal.is_int else "DECIMAL"
        return "STRING"
    if isinstance(expression, exp.Null):
        return "NULL"
    found = type_of(expression, scope.columns())
    return found.upper().partition("(")[0].partition("<")[0] if found else None
