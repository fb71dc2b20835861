"""ANY, SOME and ALL of values that are listed or lie in an array, in words that need no quantifier.

x = ANY (a, b)        x = a OR x = b
x NOT LIKE ALL (a, b) NOT x LIKE a AND NOT x LIKE b
x < ALL (list)        forall(list, e -> x < e)

Compared with nothing, any(x) is an aggregate.
"""

from __future__ import annotations

from sqlglot import exp

from trickle.plan import all_of, any_of, grouped, negate

_ELEMENT = "__element"


def spelled_out(tree: exp.Expr) -> exp.Expr:
    """The query with every comparison with listed values written out; those with subqueries stay."""
    if tree.find(exp.Any, exp.All) is None:
        return tree
    return tree.transform(_read)


def _read(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Any) and not _is_compared(node) and not isinstance(node.this, exp.Query):
        return exp.Anonymous(this="any", expressions=[node.this.unnest().copy()])
    return _spelled_out(node) if _is_listed(node) else node


def _is_compared(node: exp.Any) -> bool:
    around = node.parent
    return isinstance(around, exp.Predicate) and isinstance(around, exp.Binary) and around.expression is node


def _is_listed(node: exp.Expr) -> bool:
    if not isinstance(node, exp.Binary) or not isinstance(node.expression, exp.Any | exp.All):
        return False
    return not isinstance(_values(node), exp.Query)


def _values(node: exp.Binary) -> exp.Expr:
    inner: exp.Expr = node.expression.this
    while isinstance(inner, exp.Paren) or (isinstance(inner, exp.Subquery) and isinstance(inner.this, exp.Query)):
        inner = inner.this
    return inner


def _spelled_out(node: exp.Expr) -> exp.Expr:
    assert isinstance(node, exp.Binary)
    values, to_all = _values(node), isinstance(node.expression, exp.All)
    if isinstance(values, exp.Tuple | exp.Array) or isinstance(node, exp.Like | exp.ILike):
        listed = values.expressions if isinstance(values, exp.Tuple | exp.Array) else [values]
        compared = [grouped(_compared(node, value)) for value in listed]
        return exp.Paren(this=all_of(compared) if to_all else any_of(compared))
    element = exp.to_identifier(_ELEMENT)
    each = exp.Lambda(this=_compared(node, element), expressions=[element.copy()])
    return exp.Anonymous(this="forall" if to_all else "exists", expressions=[values.copy(), each])


def _compared(node: exp.Binary, value: exp.Expr) -> exp.Expr:
    one = type(node)(this=grouped(node.this.copy()), expression=value.copy())
    return negate(one) if node.args.get("negate") else one
