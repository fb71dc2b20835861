"""`trickle status`: how stream tables stand."""

from __future__ import annotations

import typer

from ..answers import show_facts
from ..options import Json, SomeStreamTable, options
from .listing import NONE

EXAMPLE = "trickle status totals"
BRIEF = ("name", "status", "effective_mode", "data_snapshot", "lag_seconds", "last_action", "last_reason", "last_error")


def status(ctx: typer.Context, name: SomeStreamTable = None, json: Json = False) -> None:
    """Show for which snapshot each stream table is exact, how far it lags behind, and what was done last."""
    from ...ops.facts import StatusRecord

    given = options(ctx, json)
    with given.open() as db:
        show_facts(given, db.stream_table_status(name), StatusRecord, NONE, BRIEF)
