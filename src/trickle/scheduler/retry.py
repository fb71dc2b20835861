"""What an error means for the next try: pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

PASSING = frozenset({"commit_conflict", "storage_error", "source_error", "lake_error"})
"""Codes of errors that go away without anybody touching the stream table: they never suspend it."""
MOST_STRETCH = 8


@dataclass(frozen=True)
class Retry:
    at: datetime
    suspend: bool


def after_error(code: str, errors: int, now: datetime, first: float, cap: float, limit: int) -> Retry:
    """Try again after first · 2ⁿ⁻¹ seconds, at most `cap`; give up after `limit` errors that do not pass by themselves.

    >>> from datetime import UTC
    >>> noon = datetime(2024, 5, 1, 12, tzinfo=UTC)
    >>> after_error("query_error", 2, noon, 1.0, 300.0, 3)
    Retry(at=datetime.datetime(2024, 5, 1, 12, 0, 2, tzinfo=datetime.timezone.utc), suspend=False)
    >>> [after_error(code, 3, noon, 1.0, 300.0, 3).suspend for code in ("query_error", "storage_error")]
    [True, False]
    """
    wait = min(first * 2 ** min(max(errors, 1) - 1, 60), cap)
    return Retry(now + timedelta(seconds=wait), suspend=errors >= limit and code not in PASSING)


def stretched(factor: int, duration: float, interval: float | None) -> int:
    """A refresh that outlasts its interval doubles it, up to eight times; one in time resets it.

    >>> stretched(1, 3.0, 2.0), stretched(8, 30.0, 2.0), stretched(4, 1.0, 2.0), stretched(1, 9.0, None)
    (2, 8, 1, 1)
    """
    if interval is None or duration <= interval:
        return 1
    return min(factor * 2, MOST_STRETCH)
