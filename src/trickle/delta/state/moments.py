"""Variance, covariance, correlation and regression from exact integer sums.

With n rows, Sx = Σx, Sy = Σy, Sxx = Σx², Sxy = Σxy …, all integers of up to 38 digits:

    Cxx = n·Sxx − Sx²      Cxy = n·Sxy − Sx·Sy      Cyy = n·Syy − Sy²

    var_pop = Cxx / n²     covar_pop = Cxy / n²     corr = Cxy / √(Cxx·Cyy)     slope = Cxy / Cxx

A decimal of scale s is the integer x·10ˢ. No digit is lost, so a merged state never drifts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from trickle.delta.state.cells import Cell, counting, present
from trickle.delta.state.types import decimal, is_integral
from trickle.plan import all_of, any_of, both, cast, col, null, number, when

_LARGEST_SUM = 10**18
_LARGEST_SQUARES = 10**27
_LARGEST_COUNT = 10**9


@dataclass(frozen=True)
class Sums:
    """The sums of a group as doubles, ready for a formula; one unit of x is 10⁻ˢ."""

    n: exp.Expr
    x: exp.Expr
    y: exp.Expr
    cxx: exp.Expr
    cyy: exp.Expr
    cxy: exp.Expr


@dataclass(frozen=True)
class Formula:
    """A statistic over the sums; undefined (NULL) below `least` rows, left to the engine when degenerate."""

    of: Callable[[Sums], exp.Expr]
    pairs: bool = True
    least: int = 1
    no_spread: str = ""
    """Columns ("x", "y") without whose spread the engines disagree: then the group is rescanned."""
    unit: Callable[[int, int], int] = lambda y, x: 0
    """The power of ten the result is divided by, from the scales of y and x."""


def _div(a: exp.Expr, b: exp.Expr) -> exp.Expr:
    return both(a, b, exp.Div)


def _mul(a: exp.Expr, b: exp.Expr) -> exp.Expr:
    return both(a, b, exp.Mul)


def _sub(a: exp.Expr, b: exp.Expr) -> exp.Expr:
    return both(a, b, exp.Sub)


def _root(a: exp.Expr) -> exp.Expr:
    return exp.Sqrt(this=a.copy())


def _less_one(n: exp.Expr) -> exp.Expr:
    return _sub(n, number(1))


def _twice_x(y: int, x: int) -> int:
    return 2 * x


_VAR_POP = Formula(lambda s: _div(s.cxx, _mul(s.n, s.n)), pairs=False, unit=_twice_x)
_VAR_SAMP = Formula(lambda s: _div(s.cxx, _mul(s.n, _less_one(s.n))), pairs=False, least=2, unit=_twice_x)
_STDDEV_POP = Formula(lambda s: _root(_VAR_POP.of(s)), pairs=False, unit=lambda y, x: x)
_STDDEV_SAMP = Formula(lambda s: _root(_VAR_SAMP.of(s)), pairs=False, least=2, unit=lambda y, x: x)
_SLOPE = Formula(lambda s: _div(s.cxy, s.cxx), no_spread="x", unit=lambda y, x: y - x)

FORMULAS: dict[type[exp.Expr], Formula] = {
    exp.VariancePop: _VAR_POP,
    exp.Variance: _VAR_SAMP,
    exp.StddevPop: _STDDEV_POP,
    exp.StddevSamp: _STDDEV_SAMP,
    exp.Stddev: _STDDEV_SAMP,
    exp.CovarPop: Formula(lambda s: _div(s.cxy, _mul(s.n, s.n)), unit=lambda y, x: y + x),
    exp.CovarSamp: Formula(lambda s: _div(s.cxy, _mul(s.n, _less_one(s.n))), least=2, unit=lambda y, x: y + x),
    exp.Corr: Formula(lambda s: _div(s.cxy, _mul(_root(s.cxx), _root(s.cyy))), no_spread="xy"),
    exp.RegrSlope: _SLOPE,
    exp.RegrIntercept: Formula(
        lambda s: _div(_sub(s.y, _mul(_SLOPE.of(s), s.x)), s.n), no_spread="x", unit=lambda y, x: y
    ),
    exp.RegrR2: Formula(lambda s: _div(_mul(s.cxy, s.cxy), _mul(s.cxx, s.cyy)), no_spread="xy"),
    exp.RegrAvgx: Formula(lambda s: _div(s.x, s.n), unit=lambda y, x: x),
    exp.RegrAvgy: Formula(lambda s: _div(s.y, s.n), unit=lambda y, x: y),
    exp.RegrSxx: Formula(lambda s: _div(s.cxx, s.n), unit=_twice_x),
    exp.RegrSyy: Formula(lambda s: _div(s.cyy, s.n), unit=lambda y, x: 2 * y),
    exp.RegrSxy: Formula(lambda s: _div(s.cxy, s.n), unit=lambda y, x: y + x),
}


def scale(type: str | None) -> int | None:
    """The scale of a number that fits the integer sums, None of one that does not."""
    if is_integral(type):
        return 0
    parts = decimal(type)
    return parts[1] if parts is not None and parts[0] <= 15 else None


def build(
    formula: Formula, arguments: Sequence[exp.Expr], scales: Sequence[int], cell: Callable[[str], str]
) -> tuple[tuple[Cell, ...], exp.Expr, exp.Expr]:
    """The cells of a statistic, its result over them, and when the group must be rescanned."""
    # f(y, x): SQL names the dependent variable first; f(x) is f(x, x)
    y, x = (arguments[0], arguments[1]) if formula.pairs else (arguments[0], arguments[0])
    y_scale, x_scale = (scales[0], scales[1]) if formula.pairs else (scales[0], scales[0])
    complete = all_of([present(y), present(x)])
    xs, ys = _integer(x, x_scale), _integer(y, y_scale)
    products = {"x": xs, "y": ys, "xx": _product(xs, xs), "yy": _product(ys, ys), "xy": _product(xs, ys)}
    wanted = products if formula.pairs else {"x": xs, "xx": products["xx"]}
    names = {kind: cell(kind) for kind in ("n", *wanted)}
    sums = tuple(Cell(names[kind], when(complete, value, null())) for kind, value in wanted.items())
    cells = (counting(names["n"], complete), *sums)
    result = _scaled(formula.of(_sums(names)), formula.unit(y_scale, x_scale))
    enough = exp.GTE(this=col(names["n"]), expression=number(formula.least))
    return cells, when(enough, result, null()), _stale(formula, names)


def _sums(names: dict[str, str]) -> Sums:
    def at(kind: str) -> str:
        # of one variable, y is x
        return names.get(kind) or names["x" * len(kind)]

    def spread(a: str, b: str) -> exp.Expr:
        squares = _mul(_narrow(col(names["n"]), 10), _narrow(col(at(a + b)), 28))
        return cast(_sub(squares, _mul(_narrow(col(at(a)), 19), _narrow(col(at(b)), 19))), "DOUBLE")

    def double(kind: str) -> exp.Expr:
        return cast(col(at(kind)), "DOUBLE")

    return Sums(double("n"), double("x"), double("y"), spread("x", "x"), spread("y", "y"), spread("x", "y"))


def _stale(formula: Formula, names: dict[str, str]) -> exp.Expr:
    """Too large for exact arithmetic, or without spread."""
    sums = [names[k] for k in ("x", "y") if k in names]
    squares = [names[k] for k in ("xx", "yy", "xy") if k in names]
    large = [exp.GTE(this=col(names["n"]), expression=number(_LARGEST_COUNT))]
    large += [exp.GTE(this=exp.Abs(this=col(n)), expression=number(_LARGEST_SUM)) for n in sums]
    large += [exp.GTE(this=exp.Abs(this=col(n)), expression=number(_LARGEST_SQUARES)) for n in squares]
    flat: list[exp.Expr] = []
    if formula.no_spread:
        found = _sums(names)
        spreads = {"x": found.cxx, "y": found.cyy}
        flat = [exp.EQ(this=spreads[v], expression=number(0)) for v in formula.no_spread]
    return exp.Coalesce(this=any_of([*large, *flat]), expressions=[exp.false()])


def _integer(value: exp.Expr, scale: int) -> exp.Expr:
    """x·10ˢ as an integer of up to 19 digits."""
    if scale == 0:
        return cast(value, "DECIMAL(19, 0)")
    factor = cast(number(10**scale), f"DECIMAL({scale + 1}, 0)")
    return cast(_mul(value, factor), "DECIMAL(19, 0)")


def _product(a: exp.Expr, b: exp.Expr) -> exp.Expr:
    return _mul(a, b)


def _narrow(value: exp.Expr, digits: int) -> exp.Expr:
    return cast(value, f"DECIMAL({digits}, 0)")


def _scaled(value: exp.Expr, power: int) -> exp.Expr:
    if power == 0:
        return value
    factor = cast(number(10 ** abs(power)), "DOUBLE")
    return _div(value, factor) if power > 0 else _mul(value, factor)
