"""Numbers and times as people read them."""

from __future__ import annotations

from datetime import datetime


def seconds(value: float | None) -> str:
    """
    >>> seconds(None), seconds(0.0), seconds(0.42), seconds(75), seconds(8000), seconds(200000)
    ('–', '0 s', '0.4 s', '1 min 15 s', '2 h 13 min', '2 d 7 h')
    """
    if value is None:
        return "–"
    if value < 10:
        return f"{value:.1f} s".replace("0.0 s", "0 s")
    if value < 60:
        return f"{value:.0f} s"
    whole = int(value)
    for size, unit, below, small in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            return f"{whole // size} {unit} {whole % size // below} {small}"
    raise AssertionError("unreachable")


def lag(value: float | None) -> str:
    """
    >>> lag(0.0), lag(3.4), lag(200), lag(None)
    ('fresh', '3.4 s', '3 min 20 s', '–')
    """
    return "fresh" if value == 0 else seconds(value)


def milliseconds(value: float | None) -> str:
    """
    >>> milliseconds(None), milliseconds(0.4), milliseconds(142.2), milliseconds(29_400)
    ('–', '<1 ms', '142 ms', '29 s')
    """
    if value is None:
        return "–"
    if value < 1:
        return "<1 ms"
    return f"{value:.0f} ms" if value < 1000 else seconds(value / 1000)


def rows(inserted: int, deleted: int) -> str:
    """
    >>> rows(2, 1)
    '+2 −1'
    """
    return f"+{inserted} −{deleted}"


def count(value: float | None) -> str:
    """
    >>> count(None), count(1234567).split()
    ('–', ['1', '234', '567'])
    """
    return "–" if value is None else f"{value:,.0f}".replace(",", "\u202f")


def ago(moment: str | None, now: str) -> str:
    """
    >>> ago("2026-01-01T00:00:00+00:00", "2026-01-01T00:01:05+00:00")
    '1 min 5 s ago'
    """
    if moment is None:
        return "never"
    passed = (datetime.fromisoformat(now) - datetime.fromisoformat(moment)).total_seconds()
    return "now" if passed < 1 else f"{seconds(passed)} ago"


def briefly(moment: datetime, now: datetime) -> str:
    """A time as short as it can be told: today's without its day.

    >>> now = datetime(2026, 11, 16, 18, 5)
    >>> briefly(datetime(2026, 11, 16, 9, 30, 1), now), briefly(datetime(2026, 11, 15, 9, 30), now)
    ('09:30:01', '2026-11-15 09:30')
    """
    return f"{moment:%H:%M:%S}" if moment.date() == now.date() else f"{moment:%Y-%m-%d %H:%M}"


def clock(moment: str | None) -> str:
    """
    >>> clock("2026-11-16T18:05:03.123+00:00")
    '2026-11-16 18:05:03 UTC'
    """
    return "–" if moment is None else f"{datetime.fromisoformat(moment):%Y-%m-%d %H:%M:%S} UTC"
