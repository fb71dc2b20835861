"""`trickle list`: which stream tables there are."""

from __future__ import annotations

import typer

from ..answers import show_facts
from ..faces import LISTED
from ..options import Json, options

NONE = "no stream tables; `trickle create` makes one"


def listing(ctx: typer.Context, json: Json = False) -> None:
    """List the stream tables with their queries."""
    from ...ops import facts

    given = options(ctx, json)
    with given.look() as ledger:
        show_facts(given, facts.stream_tables(ledger), facts.StreamTableRecord, NONE, LISTED)
