"""All schedulers of a lake told to wait, or to go on."""

from __future__ import annotations

from datetime import UTC, datetime

from ..registry.scheduling import Scheduling
from ..sql.names import Name
from .ledger import Ledger

PAUSED = "paused"


def pause(ledger: Ledger) -> None:
    """Idempotent; what is running ends as usual."""
    _set(ledger, datetime.now(UTC).isoformat())


def resume(ledger: Ledger) -> None:
    _set(ledger, None)


def hold(ledger: Ledger, name: Name | None) -> None:
    """Refreshes of one stream table, or all (None), wait."""
    if name is None:
        pause(ledger)
    else:
        ledger.suspend(name)


def release(ledger: Ledger, name: Name | None) -> None:
    """They go on."""
    if name is None:
        resume(ledger)
    else:
        ledger.resume(name)


def _set(ledger: Ledger, value: str | None) -> None:
    ledger.migrate()
    scheduling = Scheduling(ledger.registry)
    with ledger.catalog.writing() as connection:
        scheduling.set_control(connection, PAUSED, value)
        scheduling.signal(connection)
