"""Dates and instants as integers since 1970, in DuckDB's text form; any year, BC and infinity included."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

HOUR = 3_600_000_000
DAY = 24 * HOUR
"""In microseconds."""
INFINITE_DAYS = 2**31 - 1
INFINITE_MICROS = 2**63 - 1

_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)
_INFINITE = {"infinity": 1, "-infinity": -1}
_TEXT = re.compile(
    r"(?P<year>\d{1,6})-(?P<month>\d\d?)-(?P<day>\d\d?)(?P<bc> \(BC\))?"
    r"(?:[ T](?P<hour>\d\d?):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.(?P<fraction>\d{1,9}))?)?)?"
    r" ?(?:(?P<utc>Z|UTC)|(?P<sign>[+-])(?P<h>\d\d?)(?::?(?P<m>\d\d))?(?::?(?P<s>\d\d))?)?(?P<bc2> \(BC\))?"
)


def days_text(days: int) -> str:
    """
    >>> days_text(0), days_text(-735099), days_text(INFINITE_DAYS)
    ('1970-01-01', '0044-05-15 (BC)', 'infinity')
    """
    if abs(days) >= INFINITE_DAYS:
        return "infinity" if days > 0 else "-infinity"
    year, month, day = civil(days)
    era = "" if year > 0 else " (BC)"
    return f"{year if year > 0 else 1 - year:04d}-{month:02d}-{day:02d}{era}"


def micros_text(micros: int, zone: str = "") -> str:
    """
    >>> micros_text(1_500_000), micros_text(0, "+00")
    ('1970-01-01 00:00:01.5', '1970-01-01 00:00:00+00')
    """
    if abs(micros) >= INFINITE_MICROS:
        return "infinity" if micros > 0 else "-infinity"
    days, rest = divmod(micros, DAY)
    seconds, fraction = divmod(rest, 1_000_000)
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    dotted = f".{fraction:06d}".rstrip("0") if fraction else ""
    return f"{days_text(days)} {clock}{dotted}{zone}"


def text_days(text: str) -> int:
    """
    >>> text_days("1969-12-31"), text_days("0044-05-15 (BC)")
    (-1, -735099)
    """
    try:
        return date.fromisoformat(text).toordinal() - _EPOCH.toordinal()
    except ValueError:
        return _INFINITE[text] * INFINITE_DAYS if text in _INFINITE else text_micros(text) // DAY


def text_micros(text: str) -> int:
    """Microseconds since 1970 in UTC; a text without a zone is taken as UTC.

    >>> text_micros("1970-01-01"), text_micros("1970-01-01 02:00:00.25+02")
    (0, 250000)
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return _INFINITE[text] * INFINITE_MICROS if text in _INFINITE else _far_micros(text)
    return (moment.replace(tzinfo=None) - _EPOCH - (moment.utcoffset() or timedelta())) // _MICROSECOND


def _far_micros(text: str) -> int:
    """Of years that Python's own calendar does not reach."""
    match = _TEXT.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"not a date or timestamp: {text!r}")
    part = match.groupdict()
    year = 1 - int(part["year"]) if part["bc"] or part["bc2"] else int(part["year"])
    seconds = _clock(part["hour"], part["minute"], part["second"])
    offset = _clock(part["h"], part["m"], part["s"]) * (-1 if part["sign"] == "-" else 1)
    fraction = int((part["fraction"] or "0").ljust(6, "0")[:6])
    return day_number(year, int(part["month"]), int(part["day"])) * DAY + (seconds - offset) * 1_000_000 + fraction


def _clock(hour: str | None, minute: str | None, second: str | None) -> int:
    return int(hour or 0) * 3600 + int(minute or 0) * 60 + int(second or 0)


def civil(days: int) -> tuple[int, int, int]:
    """Days since 1970 → (year, month, day) of the proleptic Gregorian calendar; year 0 is 1 BC."""
    era, day_of_era = divmod(days + 719_468, 146_097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    year = year_of_era + era * 400 + (month <= 2)
    return year, month, day_of_year - (153 * shifted + 2) // 5 + 1


def day_number(year: int, month: int, day: int) -> int:
    """(year, month, day) → days since 1970; the inverse of `civil`."""
    era, year_of_era = divmod(year - (month <= 2), 400)
    day_of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    return era * 146_097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719_468
