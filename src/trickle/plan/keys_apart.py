"""Whether equality tells the values of a column apart, when what they are compared with has another type.

`'01' = 1` and `'1' = 1`, yet `'01' <> '1'`: rows that equal the same value need not equal each other. Who finds rows by
their own key instead of by what it is compared with may then find too few, or the same one twice.
"""

from __future__ import annotations

from sqlglot import exp

from trickle.plan.common_types import common_type
from trickle.plan.types import Type, is_same_type

_WHOLE = (Type.TINYINT, Type.SMALLINT, Type.INT, Type.BIGINT)
_EXACT_AS_DOUBLE = (Type.TINYINT, Type.SMALLINT, Type.INT)
_FLOATING = (Type.FLOAT, Type.DOUBLE)
_TEXT = (Type.TEXT, Type.VARCHAR, Type.CHAR)
_TIMES = (Type.DATE, Type.TIMESTAMP, Type.TIMESTAMPTZ, Type.TIMESTAMPNTZ, Type.TIMESTAMPLTZ)
_STAY_WITH_TEXT = (*_WHOLE, *_FLOATING, *_TIMES, Type.BOOLEAN)
"""Types that text is converted to when it is compared with them, not the other way round."""


def told_apart(mine: str | None, theirs: str | None) -> bool | None:
    """Can no two different values of the first type equal one value of the second? None if a type is not known.

    >>> told_apart("int", "bigint"), told_apart("string", "int"), told_apart("int", "string")
    (True, False, True)
    >>> told_apart("bigint", "double"), told_apart("double", "bigint"), told_apart("date", None)
    (False, True, None)
    """
    if mine is None or theirs is None:
        return None
    if is_same_type(mine, theirs):
        return True
    own, other = (exp.DataType.build(t, dialect="spark").this for t in (mine, theirs))
    if own in _TEXT:
        return other in _TEXT
    if other in _TEXT:
        return own in _STAY_WITH_TEXT
    if own in _FLOATING:
        return other in (*_WHOLE, *_FLOATING, Type.DECIMAL)
    if other in _FLOATING:
        return own in _EXACT_AS_DOUBLE and other is Type.DOUBLE
    if own in _TIMES and other in _TIMES:
        return True
    numbers = (*_WHOLE, Type.DECIMAL)
    return own in numbers and other in numbers and common_type(mine, theirs) is not None
