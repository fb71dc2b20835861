"""Types of expressions, as far as they can be told without Spark.

A type that is told wrong is worse than none: a NULL of it, united with the rest of a column, changes the column's type,
and sums are merged by it. sqlglot knows the types, but neither that 1.5 is a decimal nor what arithmetic makes of
decimals; that is told here, by Spark's rules.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.optimizer.annotate_types import annotate_types

from trickle.plan.columns import Column
from trickle.plan.expressions import cast, null, substitute

Type = exp.DataType.Type
_MOST_DIGITS = 38
_LEAST_PLACES = 6
_CHOICES = (exp.Case, exp.If, exp.Coalesce, exp.Nullif, exp.Greatest, exp.Least)
WIDTHS = {Type.TINYINT: 3, Type.SMALLINT: 5, Type.INT: 10, Type.BIGINT: 20}
TEXTS = (Type.TEXT, Type.VARCHAR, Type.CHAR)
_FLOATING = (Type.FLOAT, Type.DOUBLE)


def type_of(expression: exp.Expr, columns: Sequence[Column]) -> str | None:
    """The Spark type of an expression over these columns, None when it cannot be told.

    >>> type_of(exp.Add(this=exp.column("a"), expression=exp.column("a")), [Column("a", "bigint")])
    'BIGINT'
    >>> type_of(exp.Mul(this=exp.column("a"), expression=exp.Literal.number("1.25")), [Column("a", "decimal(8, 2)")])
    'DECIMAL(12, 4)'
    """
    types = {c.name: c.type for c in columns if c.type}
    if isinstance(expression, exp.Column):
        return types.get(expression.name)
    typed = _settled(substitute(expression, {name: cast(null(), type) for name, type in types.items()}))
    found = _told(typed)
    return found.sql("spark") if found is not None else None


def _told(typed: exp.Expr) -> exp.DataType | None:
    annotated = annotate_types(typed, dialect="spark")
    return _of_decimals(annotated) if any(_is_decimal(part) for part in annotated.walk()) else _known(annotated)


def _settled(typed: exp.Expr) -> exp.Expr:
    """Each choice of several values as a NULL of its type: sqlglot would have `coalesce(int, int)` a BIGINT."""
    root = exp.Paren(this=typed)
    for choice in reversed([c for c in root.find_all(*_CHOICES) if c.arg_key != "ifs"]):
        found = _held([_told(branch.copy()) for branch in _branches(choice)])
        if found is not None:
            choice.replace(cast(null(), found.sql("spark")))
    settled: exp.Expr = root.this.pop()
    return settled


def is_same_type(one: str, two: str) -> bool:
    return exp.DataType.build(one, dialect="spark") == exp.DataType.build(two, dialect="spark")


_TOLD_OTHERWISE: dict[type[exp.Expr], str] = {
    exp.TimestampTrunc: "TIMESTAMP",
    exp.DateTrunc: "DATE",
    exp.Year: "INT",
    exp.Quarter: "INT",
    exp.Month: "INT",
    exp.Week: "INT",
    exp.WeekOfYear: "INT",
    exp.Day: "INT",
    exp.DayOfMonth: "INT",
    exp.DayOfWeek: "INT",
    exp.DayOfYear: "INT",
}
"""Where sqlglot's type is not Spark's."""


def _known(node: exp.Expr) -> exp.DataType | None:
    """What sqlglot says, where it is right."""
    if type(node) in _TOLD_OTHERWISE:
        return exp.DataType.build(_TOLD_OTHERWISE[type(node)], dialect="spark")
    found = node.type
    if found is None or found.is_type(Type.UNKNOWN, Type.NULL, Type.INTERVAL):
        return None
    if node.find(*_CHOICES) and not found.is_type(Type.BOOLEAN):
        return None
    doubtful = (node.find(exp.Round), isinstance(node, exp.Sub) and found.is_type(*exp.DataType.TEMPORAL_TYPES))
    return None if any(doubtful) else found


def _is_decimal(node: exp.Expr) -> bool:
    if isinstance(node, exp.Literal):
        return not node.is_string and not node.is_int and "e" not in node.this.casefold()
    return isinstance(node, exp.Cast) and node.to.is_type(Type.DECIMAL)


def _of_decimals(node: exp.Expr) -> exp.DataType | None:
    """The type of an expression in which decimals are."""
    if not any(_is_decimal(part) for part in node.walk()):
        return _known(node)
    match node:
        case exp.Cast():
            return node.to
        case exp.Literal():
            return _literal(node)
        case exp.Paren() | exp.Neg() | exp.Abs() | exp.Min() | exp.Max() | exp.Filter() | exp.Window():
            return _of_decimals(node.this)
        case exp.Lag() | exp.Lead() | exp.First() | exp.Last() | exp.FirstValue() | exp.LastValue() | exp.AnyValue():
            return _of_decimals(node.this)
        case exp.Sum():
            return _moved(_of_decimals(node.this), 10, 0)
        case exp.Avg():
            return _moved(_of_decimals(node.this), 4, 4)
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div():
            return _arithmetic(node)
        case exp.Count() | exp.CountIf():
            return _known(node)
        case _:
            found = _known(node)
            unsure = (*exp.DataType.NUMERIC_TYPES, *exp.DataType.NESTED_TYPES)
            return None if found is None or found.is_type(*unsure) else found


def _literal(node: exp.Literal) -> exp.DataType | None:
    whole, _, fraction = node.this.partition(".")
    return _decimal(len(whole.lstrip("0")) + len(fraction), len(fraction))


def _arithmetic(node: exp.Binary) -> exp.DataType | None:
    sides = [_side(node.left), _side(node.right)]
    if any(side is not None and side.is_type(*_FLOATING) for side in sides):
        return exp.DataType.build("DOUBLE")
    one, two = (_digits(side) for side in sides)
    if one is None or two is None:
        return None
    (p, s), (q, t) = one, two
    if isinstance(node, exp.Mul):
        return _fitted(p + q + 1, s + t)
    if isinstance(node, exp.Div):
        scale = max(6, s + q + 1)
        return _fitted(p - s + t + scale, scale)
    return _fitted(max(p - s, q - t) + max(s, t) + 1, max(s, t))


def _fitted(precision: int, scale: int) -> exp.DataType | None:
    """What arithmetic gives: of too many digits Spark gives up decimal places, down to six."""
    if precision > _MOST_DIGITS:
        scale = max(_MOST_DIGITS - (precision - scale), min(scale, _LEAST_PLACES))
    return _decimal(min(precision, _MOST_DIGITS), scale)


def _side(node: exp.Expr) -> exp.DataType | None:
    """An operand's type; whole numbers that are written out are as narrow as can be."""
    inner = node.unnest()
    if isinstance(inner, exp.Literal) and inner.is_int:
        return _decimal(len(inner.this), 0)
    return _of_decimals(node)


def _branches(node: exp.Expr) -> list[exp.Expr]:
    """The values one of which is the answer."""
    if isinstance(node, exp.Case):
        values = [branch.args["true"] for branch in node.args["ifs"]] + [node.args.get("default")]
    elif isinstance(node, exp.If):
        values = [node.args["true"], node.args.get("false")]
    elif isinstance(node, exp.Nullif):
        values = [node.this]
    else:
        values = [node.this, *node.expressions]
    return [v for v in values if v is not None and not isinstance(v, exp.Null)]


def _held(types: Sequence[exp.DataType | None]) -> exp.DataType | None:
    """The type that holds them all: the same, texts, the widest of whole numbers, or what holds other numbers."""
    known = [t for t in types if t is not None]
    if not known or len(known) < len(types):
        return None
    if all(t == known[0] for t in known):
        return known[0]
    if all(t.this in TEXTS for t in known):
        return exp.DataType.build("STRING", dialect="spark")
    if all(t.this in WIDTHS for t in known):
        return max(known, key=lambda t: WIDTHS[t.this])
    return united(known)


def united(types: Sequence[exp.DataType]) -> exp.DataType | None:
    """A double, or a decimal, of whose places some are given up for digits."""
    digits = [_digits(t) for t in types]
    if any(d is None and not t.is_type(*_FLOATING) for d, t in zip(digits, types, strict=True)):
        return None
    known = [d for d in digits if d is not None]
    if len(known) < len(types):
        return exp.DataType.build("DOUBLE")
    whole, scale = max(p - s for p, s in known), max(s for _, s in known)
    return _decimal(min(whole + scale, _MOST_DIGITS), min(scale, _MOST_DIGITS - whole))


def _moved(type: exp.DataType | None, precision: int, scale: int) -> exp.DataType | None:
    """What an aggregate makes of a decimal; a double stays one."""
    if type is not None and type.is_type(*_FLOATING):
        return exp.DataType.build("DOUBLE")
    if type is None or not type.is_type(Type.DECIMAL):
        return None
    digits = _digits(type)
    return digits and _decimal(min(digits[0] + precision, _MOST_DIGITS), digits[1] + scale)


def _digits(type: exp.DataType | None) -> tuple[int, int] | None:
    """Precision and scale."""
    if type is None:
        return None
    if not type.is_type(Type.DECIMAL):
        return (WIDTHS[type.this], 0) if type.this in WIDTHS else None
    said = [int(part.name) for part in type.expressions]
    return (said[0] if said else 10, said[1] if len(said) > 1 else 0)


def _decimal(precision: int, scale: int) -> exp.DataType | None:
    """A decimal; none where Spark would cut digits off."""
    if precision > _MOST_DIGITS or scale > precision:
        return None
    return exp.DataType.build(f"DECIMAL({precision}, {scale})", dialect="spark")
