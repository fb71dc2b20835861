"""What a shell may complete: names that the lake holds, and words that an option knows. Spark is not started."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import typer

from ..config import SETTINGS
from ..errors import TrickleError

if TYPE_CHECKING:
    from ..ops.ledger import Ledger

# Typer knows the parameters of completers by their names.


def one_of(*words: str) -> Callable[[str], list[str]]:
    """Those of the words that begin so.

    >>> one_of("table", "json", "csv")("j")
    ['json']
    """

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete


def stream_table_names(ctx: typer.Context, incomplete: str) -> list[str]:
    return _held(ctx, incomplete, lambda ledger: (table.label for table in ledger.all()))


def table_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Tables and stream tables, not what stream tables are stored in."""
    return _held(ctx, incomplete, _tables)


def setting_names(incomplete: str) -> list[str]:
    return [f"{setting.name}=" for setting in SETTINGS if setting.name.startswith(incomplete)]


def _tables(ledger: Ledger) -> Iterable[str]:
    from ..lake import snapshots
    from ..lake.definitions import Definitions

    with ledger.reading() as connection:
        head = snapshots.head(ledger.catalog, connection)
        found = Definitions(ledger.catalog, "").names(connection, head)
    kept = {tuple(t.stored.split(".", 1)) for t in ledger.all()}
    tables = (name if schema == "main" else f"{schema}.{name}" for schema, name in found if (schema, name) not in kept)
    return (*tables, *(t.label for t in ledger.all()))


def _held(ctx: typer.Context, begun: str, read: Callable[[Ledger], Iterable[str]]) -> list[str]:
    """None where there is no lake, or one that cannot be read."""
    from .options import Options

    said = ctx.find_root().params
    try:
        with Options(said.get("lake"), said.get("data_path")).look() as ledger:
            return [name for name in read(ledger) if name.startswith(begun)]
    except TrickleError:
        return []
