"""Whether a lake is well: checks that each say what is wrong, and what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..records import Record, Records
from ..registry.models import SUSPENDED
from .diagnose import is_broken
from .overview import Condition, Overview

OK, WARNING, CRITICAL = "ok", "warning", "critical"
SLOW = 1.0
"""Seconds from which on the catalog is called slow."""


@dataclass(frozen=True)
class HealthCheck(Record):
    check: str
    status: str
    """ok, warning or critical."""
    detail: str
    remedy: str
    """Empty if nothing is to be done."""


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


def quick_health(overview: Overview) -> QuickHealth:
    statuses = [c.status for c in health_check(overview)]
    count = Counter(c.state for c in overview.conditions)
    return QuickHealth(
        status=max(statuses, key=(OK, WARNING, CRITICAL).index),
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
    return HealthCheck("catalog", WARNING, took, "see whether its database or disk is busy.")


def _scheduler(overview: Overview) -> HealthCheck:
    if overview.is_paused:
        return HealthCheck("scheduler", WARNING, "refreshes are paused", "resume(): let schedulers start them again.")
    if overview.schedulers or not overview.conditions:
        return HealthCheck("scheduler", OK, f"{overview.schedulers} running", "")
    return HealthCheck("scheduler", WARNING, "none is running", "`trickle run` keeps stream tables fresh.")


def _errors(overview: Overview) -> HealthCheck:
    gone = [c for c in overview.conditions if c.table.status == SUSPENDED and c.table.last_error]
    failing = [c for c in overview.conditions if is_broken(c.table) and c.table.status != SUSPENDED]
    if not (gone or failing):
        return HealthCheck("errors", OK, "no stream table fails", "")
    said = "; ".join(f"{c.name}: {c.table.last_error}" for c in (*gone, *failing))
    return HealthCheck("errors", CRITICAL if gone else WARNING, said, "diagnose_errors() says what to do for each.")


def _suspended(overview: Overview) -> HealthCheck:
    found = [c for c in overview.those("suspended") if not c.table.last_error]
    return _check("suspended", WARNING, found, "no stream table is paused", "resume(name) when it may go on.")


def _fuses(overview: Overview) -> HealthCheck:
    found = [c for c in overview.conditions if c.fuse == "blown"]
    remedy = "look at the change, then reset_fuse(name, 'apply', 'reinitialize' or 'skip_changes')."
    return _check("fuses", CRITICAL, found, "none is blown", remedy)


def _holds(overview: Overview) -> HealthCheck:
    found = [c for c in overview.those("held") if c.fuse != "blown"]
    remedy = "source_gates() and watermark_status() say what they wait for."
    return _check("holds", WARNING, found, "no stream table waits for a gate or a watermark", remedy)


def _lag(overview: Overview) -> HealthCheck:
    found = [c for c in overview.conditions if c.is_stale]
    remedy = "more workers, a longer interval, or see explain_refresh_mode(name) for why refreshes are slow."
    return _check("lag", CRITICAL, found, "every stream table is within its target_lag", remedy)


def _empty(overview: Overview) -> HealthCheck:
    return _check("empty", WARNING, overview.those("empty"), "every stream table is filled", "refresh them once.")


def _check(name: str, status: str, found: Iterable[Condition], well: str, remedy: str) -> HealthCheck:
    names = ", ".join(c.name for c in found)
    return HealthCheck(name, status, names, remedy) if names else HealthCheck(name, OK, well, "")


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
