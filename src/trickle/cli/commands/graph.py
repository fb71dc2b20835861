"""`trickle graph`: what reads what."""

from __future__ import annotations

from typing import Annotated

import typer

from ..options import Json, SomeStreamTable, options

EXAMPLE = "trickle graph --format mermaid"

Picture = Annotated[str | None, typer.Option("--format", help="How it is drawn: text, mermaid, dot or json.")]


def graph(ctx: typer.Context, name: SomeStreamTable = None, format: Picture = None, json: Json = False) -> None:
    """Draw tables, views and stream tables with what they read; of one stream table, what it stands on."""
    from ...ops.graph import TreeRecord
    from ..answers import show_facts

    given = options(ctx, json)
    with given.open() as db:
        if name is not None:
            show_facts(given, db.dependency_tree(name), TreeRecord)
            return
        print(db.graph(format or ("json" if given.format == "json" else "text")))
