"""`trickle history`: what refreshes did."""

from __future__ import annotations

from typing import Annotated

import typer

from ..answers import show_facts
from ..options import Json, SomeStreamTable, options

EXAMPLE = "trickle history totals --limit 5"
BRIEF = ("name", "finished_at", "action", "reason", "rows_inserted", "rows_deleted", "duration_ms", "data_snapshot")

Limit = Annotated[int, typer.Option("--limit", min=1, help="Only the newest so many.")]


def history(ctx: typer.Context, name: SomeStreamTable = None, limit: Limit = 20, json: Json = False) -> None:
    """List what refreshes did and why, the newest first."""
    from ...ops.facts import HistoryRecord

    given = options(ctx, json)
    with given.open() as db:
        found = db.refresh_history(name, limit)
    failed = any(line.error for line in found)
    show_facts(given, found, HistoryRecord, "no refreshes yet", (*BRIEF, "error") if failed else BRIEF)
