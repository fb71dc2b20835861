"""`trickle create`: a stream table is declared as a query, and filled."""

from __future__ import annotations

from typing import Annotated

import typer

from ..answers import show
from ..completion import one_of
from ..options import Dialect, Json, Query, QueryFile, assignments, options
from .sql import read_text

Name = Annotated[str, typer.Argument(help="What it is to be called, with a schema if that is not main.")]
Mode = Annotated[
    str,
    typer.Option(
        "--mode",
        help="AUTO, DIFFERENTIAL, FULL or IMMEDIATE.",
        autocompletion=one_of("AUTO", "DIFFERENTIAL", "FULL", "IMMEDIATE"),
    ),
]
Given = Annotated[
    list[str] | None, typer.Option("--option", "-o", metavar="NAME=VALUE", help="Another option; may be repeated.")
]
OrReplace = Annotated[bool, typer.Option("--or-replace", help="If there is one of that name, make it be as said.")]
NoFill = Annotated[bool, typer.Option("--no-fill", help="Leave it empty until its first refresh.")]


def create(
    ctx: typer.Context,
    name: Name,
    query: Query = None,
    file: QueryFile = None,
    mode: Mode = "AUTO",
    option: Given = None,
    or_replace: OrReplace = False,
    no_fill: NoFill = False,
    dialect: Dialect = "spark",
    json: Json = False,
) -> None:
    """Declare a stream table as a query, and fill it; the query comes from the argument, a file, or stdin."""
    from ...ops.options import with_defaults

    given = options(ctx, json)
    chosen = with_defaults({"refresh_mode": mode, **assignments(option or [], "--option")})
    text = read_text(query, file).strip().rstrip(";")
    with given.open() as db:
        declare = db.create_or_replace_stream_table if or_replace else db.create_stream_table
        with given.progress(f"creating {name} …"):
            made = declare(name, text, initialize=not no_fill, dialect=dialect, **chosen)
        show(given, made)
