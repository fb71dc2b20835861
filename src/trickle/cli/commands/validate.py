"""`trickle validate`: what a query would become as a stream table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from ..exit_codes import ExitCode
from ..options import Dialect, Json, Query, QueryFile, options
from .sql import read_text

if TYPE_CHECKING:
    from ...ops.explain import Validation


def validate(
    ctx: typer.Context,
    query: Query = None,
    file: QueryFile = None,
    dialect: Dialect = "spark",
    json: Json = False,
) -> None:
    """Say how a query would be refreshed as a stream table, and why; nothing is created."""
    given = options(ctx, json)
    text = read_text(query, file)
    with given.open() as db:
        [found] = db.validate_query(text, dialect)
    given.output.fact(found, "\n".join(told(found)))
    if not found.valid:
        raise typer.Exit(ExitCode.FAILED)


def told(found: Validation) -> Iterator[str]:
    """The verdict in lines."""
    if not found.valid:
        yield f"not valid: {found.error}"
        return
    yield f"valid: refreshed {found.effective_mode}, strategy {found.strategy}"
    yield f"columns: {', '.join(found.columns)}"
    yield f"sources: {', '.join(found.sources) or 'none'}"
    yield from (f"warning: {warning}" for warning in found.warnings)
