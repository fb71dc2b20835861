"""Why stream tables are not refreshed, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ..records import Record, Records
from ..refresh.holds import Holds
from ..registry.models import SUSPENDED, StreamTable
from ..sql.statement import Name
from .streams import Streams

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
    "gated": "open the gate: ungate_source(…).",
    "watermark": "advance the watermarks that lag behind: watermark_status() names the group.",
    "fuse_blown": "reset_fuse(name, 'apply', 'reinitialize' or 'skip_changes').",
}
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


def diagnose_errors(streams: Streams, name: Name | None = None) -> Records[Diagnosis]:
    """A line for each stream table that fails, is suspended or is held; none means that all is well."""
    tables = streams.all() if name is None else [streams.find(name)]
    with streams.lake.reading() as connection:
        holds = Holds.read(connection, streams.registry)
    found = (_diagnosis(streams, table, holds.reason(table)) for table in tables)
    return Records(d for d in found if d is not None)


def _diagnosis(streams: Streams, table: StreamTable, held: str) -> Diagnosis | None:
    is_broken = bool(table.last_error) or table.status == SUSPENDED
    if not (is_broken or held):
        return None
    code = _code(table.last_error) if is_broken else held
    message = table.last_error if is_broken else f"held: {held}"
    at = _last_error(streams, table) if table.last_error else None
    remedy = REMEDIES.get(code, OTHERWISE)
    return Diagnosis(table.label, table.status, code, message, table.errors_in_row, at, remedy)


def _code(last_error: str) -> str:
    """
    >>> _code("suspended after 3 errors in a row; query_error: a value does not fit"), _code("")
    ('query_error', 'suspended')
    """
    return last_error.rpartition("; ")[2].partition(": ")[0] if last_error else "suspended"


def _last_error(streams: Streams, table: StreamTable) -> datetime | None:
    with streams.lake.reading() as connection:
        lines = streams.registry.history(connection, table.id, 100)
    return next((line.finished_at for line in lines if line.error), None)
