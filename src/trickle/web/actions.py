"""What the buttons do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ..ops.ledger import name_of
from ..registry.models import StreamTable

if TYPE_CHECKING:
    from ..session import Session

Form = Mapping[str, str]


def _refresh(db: Session, table: StreamTable, form: Form) -> str:
    done = db.refresh_stream_table(_name(table), full=form.get("full") == "true")
    why = f" ({done.reason})" if done.reason else ""
    rows = f"+{done.rows_inserted} −{done.rows_deleted} rows"
    return f"{table.label}: {done.action}{why}, {rows} in {done.duration_ms:.0f} ms"


def _pause(db: Session, table: StreamTable, form: Form) -> str:
    db.pause(_name(table))
    return f"{table.label} is paused"


def _resume(db: Session, table: StreamTable, form: Form) -> str:
    db.resume(_name(table))
    return f"{table.label} goes on"


def _reset_fuse(db: Session, table: StreamTable, form: Form) -> str:
    fuse = db.reset_fuse(_name(table), form.get("action", "apply"))
    return f"the fuse of {table.label} is {fuse.state}"


def _name(table: StreamTable) -> str:
    return name_of(table).quote_spark()


def _pause_all(db: Session, form: Form) -> str:
    db.pause()
    return "all refreshes are paused"


def _resume_all(db: Session, form: Form) -> str:
    db.resume()
    return "refreshes go on"


ON_TABLE: Mapping[str, Callable[[Session, StreamTable, Form], str]] = {
    "refresh": _refresh,
    "pause": _pause,
    "resume": _resume,
    "reset-fuse": _reset_fuse,
}
"""POST /tables/<name>/<action>"""
ON_LAKE: Mapping[str, Callable[[Session, Form], str]] = {"pause": _pause_all, "resume": _resume_all}
"""POST /<action>"""
