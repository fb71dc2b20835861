"""What the buttons do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..session import Session

Form = Mapping[str, str]


def _refresh(db: Session, name: str, form: Form) -> str:
    done = db.refresh_stream_table(name, full=form.get("full") == "true")
    why = f" ({done.reason})" if done.reason else ""
    return f"{name}: {done.action}{why}, +{done.rows_inserted} −{done.rows_deleted} rows in {done.duration_ms:.0f} ms"


def _pause(db: Session, name: str, form: Form) -> str:
    db.pause(name)
    return f"{name} is paused"


def _resume(db: Session, name: str, form: Form) -> str:
    db.resume(name)
    return f"{name} goes on"


def _reset_fuse(db: Session, name: str, form: Form) -> str:
    fuse = db.reset_fuse(name, form.get("action", "apply"))
    return f"the fuse of {name} is {fuse.state}"


def _pause_all(db: Session, form: Form) -> str:
    db.pause()
    return "all refreshes are paused"


def _resume_all(db: Session, form: Form) -> str:
    db.resume()
    return "refreshes go on"


ON_TABLE: Mapping[str, Callable[[Session, str, Form], str]] = {
    "refresh": _refresh,
    "pause": _pause,
    "resume": _resume,
    "reset-fuse": _reset_fuse,
}
"""POST /tables/<name>/<action>"""
ON_LAKE: Mapping[str, Callable[[Session, Form], str]] = {"pause": _pause_all, "resume": _resume_all}
"""POST /<action>"""
