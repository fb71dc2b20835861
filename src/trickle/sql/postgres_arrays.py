"""array_agg() as PostgreSQL means it: NULLs are kept, ORDER BY is obeyed, and of no rows it is NULL.

array_agg(x ORDER BY k DESC)    transform(sort_array(collect_list(struct(k IS NULL, k, x)), false), e -> e.x)
"""

from __future__ import annotations

from sqlglot import exp

from trickle.errors import QueryError

_ELEMENT, _VALUE = "__element", "value"


def with_arrays_spelled_out(tree: exp.Expr) -> exp.Expr:
    if tree.find(exp.ArrayAgg) is None:
        return tree
    return tree.transform(lambda node: _spelled_out(node) if _is_call(node) else node)


def _is_call(node: exp.Expr) -> bool:
    inner = node.this if isinstance(node, exp.Filter) else node
    return isinstance(inner, exp.ArrayAgg) and not inner.args.get("nulls_excluded")


def _spelled_out(node: exp.Expr) -> exp.Expr:
    written = node.this if isinstance(node, exp.Filter) else node
    order = written.this if isinstance(written.this, exp.Order) else None
    value = order.this if order is not None else written.this
    distinct = isinstance(value, exp.Distinct)
    keys: list[exp.Ordered] = list(order.expressions) if order is not None else []
    rows = _collected(_row(keys, value.expressions[0] if distinct else value), distinct, node)
    made = exp.Transform(this=_sorted(rows, keys, node), expression=_value_of_element())
    nothing = exp.EQ(this=exp.ArraySize(this=rows.copy()), expression=exp.Literal.number(0))
    return exp.Case(ifs=[exp.If(this=nothing, true=exp.null())], default=made)


def _row(keys: list[exp.Ordered], value: exp.Expr) -> exp.Expr:
    """What the rows are sorted by, then the value: NULLs come where ORDER BY wants them, by a flag before each key."""
    fields = []
    for n, key in enumerate(keys):
        is_null = exp.Is(this=key.this.copy(), expression=exp.null())
        comes_late = bool(key.args.get("nulls_first")) == bool(key.args.get("desc"))
        flag = exp.Paren(this=is_null) if comes_late else exp.Not(this=exp.Paren(this=is_null))
        fields += [_field(f"flag_{n}", flag), _field(f"key_{n}", key.this.copy())]
    return exp.Struct(expressions=[*fields, _field(_VALUE, value.copy())])


def _field(name: str, value: exp.Expr) -> exp.Expr:
    return exp.PropertyEQ(this=exp.to_identifier(name), expression=value)


def _collected(row: exp.Expr, distinct: bool, node: exp.Expr) -> exp.Expr:
    rows = exp.ArrayAgg(this=exp.Distinct(expressions=[row]) if distinct else row, nulls_excluded=True)
    return exp.Filter(this=rows, expression=node.expression.copy()) if isinstance(node, exp.Filter) else rows


def _sorted(rows: exp.Expr, keys: list[exp.Ordered], node: exp.Expr) -> exp.Expr:
    if not keys:
        return rows
    downward = {bool(key.args.get("desc")) for key in keys}
    if len(downward) > 1:
        raise QueryError(
            f"{node.sql('postgres')} orders some keys upward and some downward",
            detail="Spark sorts the rows of an array in one direction.",
            hint="negate the keys of one direction, or order them alike.",
        )
    upward = exp.convert(not downward.pop())
    return exp.ArraySort(this=rows, asc=upward, nulls_first=upward.copy())


def _value_of_element() -> exp.Expr:
    element = exp.to_identifier(_ELEMENT)
    return exp.Lambda(
        this=exp.Dot(this=element.copy(), expression=exp.to_identifier(_VALUE)), expressions=[element.copy()]
    )
