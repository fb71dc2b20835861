"""Whether a lake is well: checks that each say what is wrong, and what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ..records import Record, Records
from ..registry.models import SUSPENDED
from ..sql.names import Name
from . import words
from .diagnose import Diagnosis, diagnose_errors
from .ledger import Ledger
from .overview import SLOW, Condition, Overview

OK, WARNING, CRITICAL = LEVELS = "ok", "warning", "critical"
LEVEL = {
    "catalog": WARNING,
    "scheduler": WARNING,
    "errors": CRITICAL,
    "suspended": CRITICAL,
    "fuses": CRITICAL,
    "holds": WARNING,
    "lag": CRITICAL,
    "empty": WARNING,
}
"""How bad it is when a check finds something: critical if a stream table shows old rows until somebody acts."""
BY_TABLE = ("errors", "suspended", "fuses", "holds")
"""Checks of which `diagnose_errors` says more, table by table."""
CHECK_OF = {"suspended": "suspended", "fuse_blown": "fuses", "gated": "holds", "watermark": "holds"}
"""Code of a diagnosis → its check; every other code is an error."""


@dataclass(frozen=True)
class HealthCheck(Record):
    check: str
    status: str
    """ok, warning or critical."""
    detail: str
    remedy: str
    """Empty if nothing is to be done."""


@dataclass(frozen=True)
class Finding(Record):
    """Something that is not well: a check that found something, or the stream table that it found."""

    check: str
    status: str
    """warning or critical."""
    name: str | None
    """The stream table; None of what concerns the lake, or several."""
    code: str
    message: str
    remedy: str


@dataclass(frozen=True)
class QuickHealth(Record):
    status: str
    """The worst of all checks."""
    stream_tables: int
    fresh: int
    behind: int
    empty: int
    held: int
    failing: int
    suspended: int
    fuses_blown: int
    max_lag_seconds: float
    schedulers: int
    paused: bool


def health_check(overview: Overview) -> Records[HealthCheck]:
    """Every check, also those that found nothing."""
    return Records(check(overview) for check in CHECKS)


def findings(ledger: Ledger, overview: Overview, name: Name | None = None) -> Records[Finding]:
    """What is not well in the lake, or with one stream table, the worst first; nothing if all is well."""
    seen = overview if name is None else overview.of(ledger.find(name))
    tables = [_finding(d) for d in diagnose_errors(ledger, name)]
    others = [
        Finding(c.check, c.status, None, c.check, c.detail, c.remedy)
        for c in health_check(seen)
        if c.status != OK and c.check not in BY_TABLE
    ]
    return Records(sorted((*tables, *others), key=lambda f: LEVELS.index(f.status), reverse=True))


def _finding(found: Diagnosis) -> Finding:
    check = CHECK_OF.get(found.code, "errors")
    return Finding(check, LEVEL[check], found.name, found.code, found.message, found.remedy)


def worst(found: Iterable[HealthCheck | Finding]) -> str:
    """The level of the worst of them; ok if there is none."""
    return max((f.status for f in found), key=LEVELS.index, default=OK)


def quick_health(overview: Overview) -> QuickHealth:
    count = Counter(c.state for c in overview.conditions)
    return QuickHealth(
        status=worst(health_check(overview)),
        stream_tables=len(overview.conditions),
        fresh=count["fresh"],
        behind=count["behind"],
        empty=count["empty"],
        held=count["held"],
        failing=count["failing"],
        suspended=count["suspended"],
        fuses_blown=sum(c.fuse == "blown" for c in overview.conditions),
        max_lag_seconds=max((c.lag or 0.0 for c in overview.conditions), default=0.0),
        schedulers=overview.schedulers,
        paused=overview.is_paused,
    )


def _catalog(overview: Overview) -> HealthCheck:
    took = f"answered in {overview.catalog_seconds * 1000:.0f} ms"
    if overview.catalog_seconds < SLOW:
        return HealthCheck("catalog", OK, took, "")
    return HealthCheck("catalog", LEVEL["catalog"], took, "see whether its database or disk is busy.")


def _scheduler(overview: Overview) -> HealthCheck:
    level = LEVEL["scheduler"]
    if overview.is_paused:
        return HealthCheck("scheduler", level, "refreshes are paused", "resume(): let schedulers start them again.")
    if overview.schedulers or not overview.conditions:
        return HealthCheck("scheduler", OK, f"{overview.schedulers} running", "")
    return HealthCheck("scheduler", level, "none is running", "`trickle run` keeps stream tables fresh.")


def _errors(overview: Overview) -> HealthCheck:
    found = [c for c in overview.conditions if c.table.last_error]
    said = [f"{c.name}: {c.table.last_error}" for c in sorted(found, key=lambda c: c.table.status != SUSPENDED)]
    return _check("errors", said, "no stream table fails", "diagnose_errors() says what to do for each.", "; ")


def _suspended(overview: Overview) -> HealthCheck:
    found = [c for c in overview.those("suspended") if not c.table.last_error]
    return _check("suspended", _names(found), "no stream table is paused", "resume(name) when it may go on.")


def _fuses(overview: Overview) -> HealthCheck:
    found = [c for c in overview.conditions if c.fuse == "blown"]
    remedy = "look at the change, then reset_fuse(name, 'apply', 'reinitialize' or 'skip_changes')."
    return _check("fuses", _names(found), "none is blown", remedy)


def _holds(overview: Overview) -> HealthCheck:
    found = [c for c in overview.those("held") if c.fuse != "blown"]
    remedy = "source_gates() and watermark_status() say what they wait for."
    return _check("holds", _names(found), "no stream table waits for a gate or a watermark", remedy)


def _lag(overview: Overview) -> HealthCheck:
    found = [c for c in overview.conditions if c.is_stale]
    said = [f"{c.name} (lag {words.seconds(c.lag)}, may be {words.seconds(c.target_lag)})" for c in found]
    remedy = "more workers, a longer interval, or see explain_refresh_mode(name) for why refreshes are slow."
    return _check("lag", said, "every stream table is within its target_lag", remedy)


def _empty(overview: Overview) -> HealthCheck:
    found = _names(overview.those("empty"))
    return _check("empty", found, "every stream table is filled", "refresh them once.")


def _names(found: Iterable[Condition]) -> list[str]:
    return [c.name for c in found]


def _check(name: str, found: Sequence[str], well: str, remedy: str, between: str = ", ") -> HealthCheck:
    return HealthCheck(name, LEVEL[name], between.join(found), remedy) if found else HealthCheck(name, OK, well, "")


CHECKS: tuple[Callable[[Overview], HealthCheck], ...] = (
    _catalog,
    _scheduler,
    _errors,
    _suspended,
    _fuses,
    _holds,
    _lag,
    _empty,
)
