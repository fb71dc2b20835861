"""`trickle graph`: what reads what."""

from __future__ import annotations

from typing import Annotated

import typer

from ..completion import one_of
from ..options import Json, SomeStreamTable, named, options

Columns = Annotated[bool, typer.Option("--columns", help="Of one stream table: which columns its own are made of.")]
Picture = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="How it is drawn: text, mermaid, dot or json.",
        autocompletion=one_of("text", "mermaid", "dot", "json"),
    ),
]


def graph(
    ctx: typer.Context,
    name: SomeStreamTable = None,
    columns: Columns = False,
    format: Picture = None,
    json: Json = False,
) -> None:
    """Draw tables, views and stream tables with what they read; of one stream table, what it stands on."""
    from ...ops import graph as graphs
    from ..answers import show_facts

    if columns and name is None:
        raise typer.BadParameter("name a stream table", param_hint="--columns")
    given = options(ctx, json)
    if columns and name is not None:
        from ...ops.lineage import ColumnOrigin

        with given.open() as db:
            show_facts(given, db.column_lineage(name), ColumnOrigin)
        return
    with given.look() as ledger:
        if (wanted := named(name)) is not None:
            show_facts(given, graphs.dependency_tree(ledger, wanted), graphs.TreeRecord)
            return
        print(graphs.graph(ledger, format or ("json" if given.format == "json" else "text")))
