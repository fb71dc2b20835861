"""What the numbers of a Spark type are like."""

from __future__ import annotations

import re

_INTEGRAL = {"TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT", "BYTE", "SHORT", "LONG"}
_FLOAT = {"FLOAT", "DOUBLE", "REAL"}
_DECIMAL = re.compile(r"(?:DECIMAL|DEC|NUMERIC)(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?$", re.IGNORECASE)


def is_integral(type: str | None) -> bool:
    return type is not None and type.upper() in _INTEGRAL


def is_long(type: str | None) -> bool:
    return type is not None and type.upper() in ("BIGINT", "LONG")


def is_float(type: str | None) -> bool:
    return type is not None and type.upper() in _FLOAT


def is_exact(type: str | None) -> bool:
    """Can sums be taken back without losing a digit?"""
    return is_integral(type) or decimal(type) is not None


def decimal(type: str | None) -> tuple[int, int] | None:
    """Precision and scale of a decimal.

    >>> decimal("DECIMAL(12, 2)"), decimal("decimal"), decimal("INT")
    ((12, 2), (10, 0), None)
    """
    found = _DECIMAL.match(type.strip()) if type else None
    return (int(found[1] or 10), int(found[2] or 0)) if found else None
