"""The type of a column that holds values of two others, by Spark's ANSI rules.

What set operations unite is cast to it on both sides: left to the engine, '5' and '05' would be two rows where only
the side of texts changed, and one beside the side of numbers.
"""

from __future__ import annotations

from sqlglot import exp

from trickle.plan.types import TEXTS, WIDTHS, is_same_type, united

Type = exp.DataType.Type
_DAY, _ZONED, _UNZONED = Type.DATE, (Type.TIMESTAMPTZ, Type.TIMESTAMPLTZ), (Type.TIMESTAMPNTZ, Type.TIMESTAMP)
_READ_FROM_TEXT = (_DAY, *_ZONED, *_UNZONED, Type.BOOLEAN, Type.BINARY, Type.VARBINARY)
_REAL = (Type.FLOAT, Type.DOUBLE, Type.DECIMAL)


def common_type(one: str | None, two: str | None) -> str | None:
    """The type of a column that holds values of both; None if there is none, or one of them is not known.

    >>> common_type("int", "DECIMAL(8, 2)"), common_type("date", "string"), common_type("date", "int")
    ('DECIMAL(12, 2)', 'date', None)
    """
    if one is None or two is None:
        return None
    if is_same_type(one, two):
        return one
    types = {t: exp.DataType.build(t, dialect="spark") for t in (one, two)}
    kinds = {built.this: t for t, built in types.items()}
    if any(kind in TEXTS for kind in kinds):
        return _with_text(kinds)
    if all(kind in WIDTHS for kind in kinds):
        return max(kinds.items(), key=lambda item: WIDTHS[item[0]])[1]
    if all(kind in (*WIDTHS, *_REAL) for kind in kinds):
        found = united([*types.values()])
        return found.sql("spark") if found is not None else None
    return _of_times({*kinds}) or _nested(one, two)


def _with_text(kinds: dict[exp.DType, str]) -> str | None:
    """Texts are read as what stands beside them: whole numbers as the widest, other numbers as doubles."""
    others = [(kind, type) for kind, type in kinds.items() if kind not in TEXTS]
    if not others:
        return "STRING"
    kind, type = others[0]
    if kind in WIDTHS:
        return "BIGINT"
    if kind in _REAL:
        return "DOUBLE"
    return type if kind in _READ_FROM_TEXT else None


def _of_times(kinds: set[exp.DType]) -> str | None:
    """Days are beginnings of days; a time without zone is one of the session's."""
    if not kinds <= {_DAY, *_ZONED, *_UNZONED}:
        return None
    return "TIMESTAMP" if kinds & {*_ZONED} else "TIMESTAMP_NTZ"


def _nested(one: str, two: str) -> str | None:
    """Lists by their elements, structs of the same names by their fields."""
    a, b = (exp.DataType.build(t, dialect="spark") for t in (one, two))
    if a.this != b.this or a.this not in (Type.ARRAY, Type.STRUCT) or len(a.expressions) != len(b.expressions):
        return None
    pairs = [*zip(a.expressions, b.expressions, strict=True)]
    inner = [common_type(_inner(x), _inner(y)) for x, y in pairs]
    if None in inner or any(x.name.casefold() != y.name.casefold() for x, y in pairs if isinstance(x, exp.ColumnDef)):
        return None
    if a.this == Type.ARRAY:
        return f"ARRAY<{inner[0]}>"
    fields = (f"{x.this.sql('spark')}: {type}" for (x, _), type in zip(pairs, inner, strict=True))
    return f"STRUCT<{', '.join(fields)}>"


def _inner(part: exp.Expr) -> str:
    type = part.args["kind"] if isinstance(part, exp.ColumnDef) else part
    return str(type.sql("spark"))
