"""Which aggregates can be merged with a change, and how: one entry per function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from trickle.delta.state import moments
from trickle.delta.state.cells import Cell, Merge, counting, present, unless_none
from trickle.delta.state.types import decimal, is_exact, is_float, is_integral, is_long
from trickle.plan import Column, Item, all_of, cast, coalesce, col, is_null, negate, null, type_of, when
from trickle.plan.names import hidden

_DIGITS_OF_COUNTS = 18


@dataclass(frozen=True)
class Algebra:
    """An aggregate call as cells, its result over them, and when a group must be rescanned after all."""

    cells: tuple[Cell, ...]
    result: exp.Expr
    stale: exp.Expr | None = None


@dataclass(frozen=True)
class Rescan:
    """The call cannot be merged: why."""

    reason: str


@dataclass(frozen=True)
class Call:
    """An aggregate call taken apart."""

    name: str
    function: exp.Expr
    arguments: tuple[exp.Expr, ...]
    """Each NULL on rows that FILTER leaves out."""
    condition: exp.Expr | None
    types: tuple[str | None, ...]

    def cell(self, kind: str) -> str:
        """The name of a hidden cell of this call."""
        return hidden(f"{kind}_{self.name}")


def algebra(item: Item, columns: Sequence[Column], float_sums: bool = True) -> Algebra | Rescan:
    """How to merge changes into this aggregate call, or why not."""
    call = _taken_apart(item, columns)
    if call.function.find(exp.Distinct):
        return Rescan("DISTINCT inside an aggregate needs the group's rows")
    known = _ALGEBRAS.get(type(call.function))
    if known is None:
        return Rescan(f"{call.function.key} has no inverse")
    if not float_sums and any(is_float(t) for t in call.types):
        return Rescan("floating-point sums are set to be rescanned")
    return known(call)


def _count(call: Call) -> Algebra:
    """Σ [x is not null]"""
    tests = [present(a) for a in call.arguments]
    if call.condition is not None and not tests:
        tests = [call.condition]
    return Algebra((counting(call.name, all_of(tests) if tests else None),), col(call.name))


def _count_if(call: Call) -> Algebra:
    return Algebra((counting(call.name, call.arguments[0]),), col(call.name))


def _sum(call: Call) -> Algebra | Rescan:
    """Σx, NULL when no x is left: a count of non-null values says so."""
    (x,), (type,) = call.arguments, call.types
    if not (is_exact(type) or is_float(type)):
        return Rescan(f"the type of the summed expression is {type or 'unknown'}")
    n = call.cell("n")
    sum = cast(col(call.name), "BIGINT") if is_integral(type) else col(call.name)
    total = Cell(call.name, x, settled=unless_none(n, sum), wide=_wide(type))
    return Algebra((total, counting(n, present(x))), col(call.name), _not_finite(call.name, type))


def _wide(type: str | None) -> str | None:
    if not is_integral(type):
        return None
    return "DECIMAL(20, 0)" if is_long(type) else "BIGINT"


def _avg(call: Call) -> Algebra | Rescan:
    """Σx / n"""
    (x,), (type,) = call.arguments, call.types
    if not (is_exact(type) or is_float(type)):
        return Rescan(f"the type of the averaged expression is {type or 'unknown'}")
    n, s = call.cell("n"), call.cell("sum")
    summed = cast(x, "DOUBLE") if is_integral(type) else x
    total = Cell(s, summed, settled=unless_none(n, col(s)))
    cells = (total, counting(n, present(x)))
    digits = decimal(type)
    if digits is not None:
        return _decimal_avg(cells, *digits)
    mean = exp.Div(this=col(s), expression=col(n))
    return Algebra(cells, unless_none(n, mean), _not_finite(s, type))


def _decimal_avg(cells: tuple[Cell, Cell], precision: int, scale: int) -> Algebra | Rescan:
    """Σx / n to four places more than x has, rounded once, as Spark's average is.

    A quotient has 38 digits, of which a sum takes `precision + 10 - scale` before the point. It is rounded there first,
    which is seen four places behind x only if n has as many digits as lie in between.
    """
    between = 24 - precision
    if between <= 0:
        return Rescan(f"the average of a DECIMAL({precision}, {scale}) needs more digits than a quotient has")
    total, count = (cell.name for cell in cells)
    sum = cast(col(total), f"DECIMAL({precision + 10}, {scale})")
    mean = cast(exp.Div(this=sum, expression=col(count)), f"DECIMAL({precision + 4}, {scale + 4})")
    many = exp.GTE(this=col(count), expression=exp.Literal.number(10**between))
    return Algebra(cells, unless_none(count, mean), many if between < _DIGITS_OF_COUNTS else None)


def _extremum(merge: Merge) -> Callable[[Call], Algebra]:
    def build(call: Call) -> Algebra:
        """The stored extremum holds unless a value at least as extreme went."""
        cell = Cell(call.name, call.arguments[0], merge)
        beaten = exp.LTE if merge is Merge.MIN else exp.GTE
        reached = beaten(this=col(cell.went), expression=col(cell.name))
        lost = exp.or_(is_null(col(cell.name)), reached)
        return Algebra((cell,), col(call.name), all_of([present(col(cell.went)), lost]))

    return build


def _bits(merge: Merge) -> Callable[[Call], Algebra]:
    def build(call: Call) -> Algebra:
        """Bits only grow together; when a value goes, the group is rescanned."""
        cell = Cell(call.name, call.arguments[0], merge)
        return Algebra((cell,), col(call.name), present(col(cell.went)))

    return build


def _xor(call: Call) -> Algebra:
    (x,) = call.arguments
    n = call.cell("n")
    bits = Cell(call.name, x, Merge.XOR, settled=unless_none(n, col(call.name)))
    return Algebra((bits, counting(n, present(x))), col(call.name))


def _every(call: Call) -> Algebra:
    """n > 0: as many true as there are"""
    (x,) = call.arguments
    n, t = call.cell("n"), call.cell("true")
    return Algebra((counting(n, present(x)), counting(t, x)), unless_none(n, exp.EQ(this=col(t), expression=col(n))))


def _some(call: Call) -> Algebra:
    (x,) = call.arguments
    n, t = call.cell("n"), call.cell("true")
    some = exp.GT(this=col(t), expression=exp.Literal.number(0))
    return Algebra((counting(n, present(x)), counting(t, x)), unless_none(n, some))


def _moment(formula: moments.Formula) -> Callable[[Call], Algebra | Rescan]:
    def build(call: Call) -> Algebra | Rescan:
        scales = [moments.scale(t) for t in call.types]
        if any(s is None for s in scales):
            return Rescan("moments of floating-point or very wide numbers lose digits when merged")
        cells, result, stale = moments.build(formula, call.arguments, [s or 0 for s in scales], call.cell)
        return Algebra(cells, result, stale)

    return build


_ALGEBRAS: dict[type[exp.Expr], Callable[[Call], Algebra | Rescan]] = {
    exp.Count: _count,
    exp.CountIf: _count_if,
    exp.Sum: _sum,
    exp.Avg: _avg,
    exp.Min: _extremum(Merge.MIN),
    exp.Max: _extremum(Merge.MAX),
    exp.BitwiseAndAgg: _bits(Merge.AND),
    exp.BitwiseOrAgg: _bits(Merge.OR),
    exp.BitwiseXorAgg: _xor,
    exp.LogicalAnd: _every,
    exp.LogicalOr: _some,
    **{function: _moment(formula) for function, formula in moments.FORMULAS.items()},
}


def _not_finite(name: str, type: str | None) -> exp.Expr | None:
    """NaN and infinities cannot be subtracted again: x − x is 0 only of finite x."""
    if not is_float(type):
        return None
    zero = exp.EQ(this=exp.Paren(this=exp.Sub(this=col(name), expression=col(name))), expression=exp.Literal.number(0))
    return negate(coalesce(zero, exp.true()))


def _taken_apart(item: Item, columns: Sequence[Column]) -> Call:
    function, condition = item.expression, None
    if isinstance(function, exp.Filter):
        condition = function.expression.this
        function = function.this
    given = [a for a in function.iter_expressions() if not isinstance(a, exp.Star)]
    arguments = tuple(a.copy() if condition is None else when(condition, a, null()) for a in given)
    return Call(item.name, function, arguments, condition, tuple(type_of(a, columns) for a in given))
