"""`trickle refresh`: stream tables are brought to the newest snapshot."""

from __future__ import annotations

from typing import Annotated

import typer

from ..answers import show_facts
from ..completion import stream_table_names
from ..faces import REFRESHED
from ..options import Json, options
from .listing import NONE

Name = Annotated[
    str | None,
    typer.Argument(help="A stream table, with its schema if that is not main.", autocompletion=stream_table_names),
]
Full = Annotated[bool, typer.Option("--full", help="Recompute it, and write the difference.")]
All = Annotated[bool, typer.Option("--all", help="Every stream table, sources before readers, at one snapshot.")]


def refresh(ctx: typer.Context, name: Name = None, full: Full = False, all: All = False, json: Json = False) -> None:
    """Bring a stream table, and those that it reads, to the newest snapshot; say what was done and why."""
    from ...refresh.result import RefreshResult

    if (name is None) != all:
        raise typer.BadParameter("name a stream table, or say --all", param_hint="NAME")
    given = options(ctx, json)
    with given.open() as db, given.progress(f"refreshing {name or 'every stream table'} …"):
        done = db.refresh_all(full) if name is None else [db.refresh_stream_table(name, full)]
    show_facts(given, done, RefreshResult, NONE, REFRESHED)
