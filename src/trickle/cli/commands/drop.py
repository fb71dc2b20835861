"""`trickle drop`: a stream table is removed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from ...records import Record
from ..options import Json, StreamTableName, options

Cascade = Annotated[bool, typer.Option("--cascade", help="Those that read it go too.")]


@dataclass(frozen=True)
class Dropped(Record):
    dropped: tuple[str, ...]


def drop(ctx: typer.Context, name: StreamTableName, cascade: Cascade = False, json: Json = False) -> None:
    """Remove a stream table with its rows; the tables that it reads stay as they are."""
    given = options(ctx, json)
    with given.open() as db:
        fact = Dropped(tuple(db.drop_stream_table(name, cascade)))
    given.output.fact(fact, f"dropped {', '.join(fact.dropped)}")
