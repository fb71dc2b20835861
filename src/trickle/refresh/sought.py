"""By which columns a stream table's refreshes look its sources up: what the change of each names in the others."""

from __future__ import annotations

from collections.abc import Iterator

from ..lake.model import Column, Table
from .change_sql import stored_change
from .compile import Compiled
from .seeking import looked_up


def sought(compiled: Compiled) -> Iterator[tuple[Table, tuple[str, ...]]]:
    """Each table with the columns of one look-up, of those by which files and row groups are told apart."""
    for part in (compiled, *(kept.compiled for kept in compiled.kept)):
        if part.storage is None:
            continue
        _, found = looked_up(stored_change(part.storage))
        for lookup in found.values():
            table = compiled.tables.get(lookup.table)
            if table is not None and (columns := _telling(table, [key.column for key in lookup.keys])):
                yield table, columns


def _telling(table: Table, names: list[str]) -> tuple[str, ...]:
    columns = [column for name in names if (column := table.column(name)) is not None]
    return tuple(dict.fromkeys(column.name for column in columns if _tells(column)))


def _tells(column: Column) -> bool:
    return not column.children and not column.type.startswith(("float", "boolean", "blob"))
