"""Numbers and moments in a row: range() and generate_series().

With bounds that are written out a series is part of the plan. Otherwise it is made for each row that its bounds are
read from, as explode(sequence(start, end, step)); where it would run the wrong way there is nothing to explode.
"""

from __future__ import annotations

from sqlglot import exp

from trickle.plan import Constant, Node, both, number, when
from trickle.sql.lower.context import Context
from trickle.sql.lower.functions import function_name
from trickle.sql.lower.refuse import unsupported, wrong

MOST_NUMBERS = 10_000
"""Rows of a range or series, which become part of the plan."""
_SERIES = (exp.GenerateSeries, exp.ExplodingGenerateSeries)


def is_series(call: exp.Expr) -> bool:
    return isinstance(call, _SERIES) or (isinstance(call, exp.Anonymous) and function_name(call) == "range")


def is_written_out(call: exp.Expr) -> bool:
    """Are its bounds whole numbers that stand in the text?"""
    return all(_whole(bound) is not None for bound in _bounds(call))


def constant(call: exp.Expr, label: str, context: Context) -> Node:
    """The numbers of `range(…)` (its end left out) or `generate_series(…)` (its end included)."""
    found = [n for n in map(_whole, _bounds(call)) if n is not None]
    beyond = 1 if isinstance(call, _SERIES) else 0
    start, end, step = (*found, 1) if len(found) == 2 else found[:3]
    if step == 0:
        raise wrong("a series of steps of 0 does not end", call, context.text)
    numbers = range(start, end + (beyond if step > 0 else -beyond), step)
    if len(numbers) > MOST_NUMBERS:
        raise unsupported(f"a series of more than {MOST_NUMBERS} numbers", call, context.text)
    rows = tuple((exp.cast(number(n), "BIGINT"),) for n in numbers)
    return Constant((context.fresh(label, "BIGINT"),), rows)


def as_lateral(item: exp.Expr) -> exp.Expr:
    """`FROM t, generate_series(1, t.n) AS g` as LATERAL, which PostgreSQL does not ask for."""
    if not isinstance(item, exp.Table) or not is_series(item.this) or is_written_out(item.this):
        return item
    return exp.Lateral(this=item.this.copy(), alias=item.args.get("alias"), ordinality=item.args.get("ordinality"))


def series_name(name: tuple[str, ...], context: Context) -> str:
    """PostgreSQL names the column after the relation, Spark's is called id."""
    if context.dialect != "postgres":
        return "id"
    return name[0] if name else "generate_series"


def exploded(call: exp.Expr, context: Context) -> exp.Expr:
    """The series as a generator of rows; NULL, which makes none, where its end lies before its start."""
    start, end, *steps = _bounds(call)
    step = steps[0] if steps else None
    if isinstance(step, exp.Interval):
        start, end = (exp.cast(bound.copy(), exp.DType.TIMESTAMPNTZ) for bound in (start, end))
    downward = _is_downward(step, call, context)
    if not isinstance(call, _SERIES):
        start, end = exp.cast(start.copy(), "BIGINT"), exp.cast(end.copy(), "BIGINT")
        end = both(end, number(1), exp.Add if downward else exp.Sub)
    operator = exp.GTE if downward else exp.LTE
    values = exp.GenerateSeries(start=start.copy(), end=end.copy(), step=step.copy() if step is not None else None)
    return exp.Explode(this=when(both(start, end, operator), values))


def _bounds(call: exp.Expr) -> list[exp.Expr]:
    if isinstance(call, _SERIES):
        return [call.args[part] for part in ("start", "end", "step") if call.args.get(part) is not None]
    return [exp.Literal.number(0), *call.expressions] if len(call.expressions) == 1 else list(call.expressions)


def _is_downward(step: exp.Expr | None, call: exp.Expr, context: Context) -> bool:
    if step is None:
        return False
    if isinstance(step, exp.Interval):
        return step.name.startswith("-")
    found = _whole(step)
    if not found:
        raise unsupported("a series whose step is not a whole number or an interval", call, context.text)
    return found < 0


def _whole(value: exp.Expr) -> int | None:
    sign, bare = (-1, value.this) if isinstance(value, exp.Neg) else (1, value)
    return sign * int(bare.this) if isinstance(bare, exp.Literal) and bare.is_int else None
