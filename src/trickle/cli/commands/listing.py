"""`trickle list`: which stream tables there are."""

from __future__ import annotations

import typer

from ..answers import show_facts
from ..options import Json, options

EXAMPLE = "trickle list"
BRIEF = ("name", "schema", "refresh_mode", "status", "data_snapshot", "query")
NONE = "no stream tables; `trickle create` makes one"


def listing(ctx: typer.Context, json: Json = False) -> None:
    """List the stream tables with their queries."""
    from ...ops.facts import StreamTableRecord

    given = options(ctx, json)
    with given.open() as db:
        show_facts(given, db.stream_tables(), StreamTableRecord, NONE, BRIEF)
