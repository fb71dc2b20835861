"""Why stream tables are not refreshed, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ..records import Record, Records
from ..refresh.holds import Holds
from ..registry.models import SUSPENDED, StreamTable
from ..registry.scheduling import Scheduling
from ..registry.units import Units
from ..sql.names import Name
from .ledger import Ledger

REMEDIES = {
    "commit_conflict": "nothing: it is tried again. If it goes on, fewer writers at once, or a PostgreSQL catalog.",
    "storage_error": "free space or mend permissions; it is tried again by itself.",
    "source_error": "make the source reachable; it is tried again by itself.",
    "lake_error": "make the catalog reachable, or restore it; it is tried again by itself.",
    "schema_changed": "restore the source, or alter the query; then resume the stream table.",
    "not_found": "restore what is missing, or alter the query; then resume the stream table.",
    "not_incremental": "set refresh_mode = 'FULL' or 'AUTO', or alter the query; then resume the stream table.",
    "query_error": "correct the rows that the message names, or alter the query (try_cast, nullif); then resume it.",
    "history_expired": "refresh it with full=True; then resume it.",
    "file_missing": "restore the file, then refresh with full=True and resume it.",
    "suspended": "resume the stream table.",
    "gated": "open the gate when its source is loaded: ungate_source(source).",
    "watermark": "advance the watermarks that lag behind: watermark_status() names the group.",
    "fuse_blown": "see what came in; then apply it, compute the table anew or skip it: reset_fuse(name, action).",
}
PAUSED = "schedulers leave it alone"
OTHERWISE = "see the message and docs/reference/errors.md; then resume the stream table."


@dataclass(frozen=True)
class Diagnosis(Record):
    name: str
    status: str
    code: str
    message: str
    errors_in_row: int
    last_error_at: datetime | None
    remedy: str


def diagnose_errors(ledger: Ledger, name: Name | None = None) -> Records[Diagnosis]:
    """A line for each stream table that fails, is suspended or is held; none means that all is well."""
    tables = ledger.all()
    with ledger.reading() as connection:
        holds = Holds.read(connection, ledger.registry, tables)
        groups = Scheduling(ledger.registry).refresh_groups(connection)
    waits = any(_why_held(table, holds) for table in tables)
    mates = _mates(tables, [group.members for group in groups]) if waits else {}
    wanted = tables if name is None else [ledger.find(name)]
    found = (_diagnosis(ledger, table, holds) or _beside(table, mates.get(table.id, ()), holds) for table in wanted)
    return Records(d for d in found if d is not None)


def _diagnosis(ledger: Ledger, table: StreamTable, holds: Holds) -> Diagnosis | None:
    broken, held = is_broken(table), holds.reason(table)
    if not (broken or held):
        return None
    code, message = told(table.last_error) if broken else (held, f"held: {held}{_excess(table, holds)}")
    at = _last_error(ledger, table) if table.last_error else None
    remedy = REMEDIES.get(code, OTHERWISE)
    return Diagnosis(table.label, table.status, code, message, table.errors_in_row, at, remedy)


def _mates(tables: Sequence[StreamTable], groups: Sequence[Sequence[str]]) -> dict[int, Sequence[StreamTable]]:
    """Those that each stream table is committed with, itself among them."""
    return {t.id: unit for unit in Units.of(tables, groups).members for t in unit}


def _beside(table: StreamTable, mates: Sequence[StreamTable], holds: Holds) -> Diagnosis | None:
    """What is committed together waits together."""
    for mate in mates:
        if why := _why_held(mate, holds):
            message = f'held: committed together with "{mate.label}", which is held: {why}'
            return Diagnosis(table.label, table.status, why, message, 0, None, f"{mate.label}: {REMEDIES[why]}")
    return None


def _why_held(table: StreamTable, holds: Holds) -> str:
    return "suspended" if table.status == SUSPENDED else holds.reason(table)


def _excess(table: StreamTable, holds: Holds) -> str:
    """By how much a change was larger than the fuse allows; nothing of other holds."""
    fuse = (holds.fuses or {}).get(table.id)
    if holds.reason(table) != "fuse_blown" or fuse is None or fuse.ceiling is None:
        return ""
    return f"; a change of {fuse.changed_rows} rows, where at most {fuse.ceiling:.0f} may come at once"


def is_broken(table: StreamTable) -> bool:
    """It fails, or was suspended."""
    return bool(table.last_error) or table.status == SUSPENDED


def told(last_error: str) -> tuple[str, str]:
    """The code and the message of an error that is remembered.

    >>> told("suspended after 3 errors in a row; query_error: this; that: does not fit")
    ('query_error', 'suspended after 3 errors in a row; this; that: does not fit')
    >>> told("not_found: no table"), told("")
    (('not_found', 'no table'), ('suspended', 'schedulers leave it alone'))
    """
    found = re.fullmatch(r"(suspended after \d+ errors in a row; )?(\w+): (.*)", last_error, re.DOTALL)
    return (found[2], (found[1] or "") + found[3]) if found else ("suspended", last_error or PAUSED)


def _last_error(ledger: Ledger, table: StreamTable) -> datetime | None:
    with ledger.reading() as connection:
        lines = ledger.registry.history(connection, table.id, 100)
    return next((line.finished_at for line in lines if line.error), None)
