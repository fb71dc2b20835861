"""What maintenance works on: the tables named, with the files they have at the head."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from ..files import live_files, partition_values
from ..model import DataFile, Snapshot, Table

if TYPE_CHECKING:
    from ..lake import Lake


class TableName(Protocol):
    """A schema (or None for the default) and a name."""

    @property
    def schema(self) -> str | None: ...
    @property
    def name(self) -> str: ...


def tables(lake: Lake, name: TableName | None) -> tuple[Snapshot, list[Table]]:
    """The head and the tables to work on: the one named, or all."""
    from ..lake import MAIN, missing

    head = lake.head()
    with lake.reading() as connection:
        if name is None:
            return head, lake.definitions.tables(connection, head)
        found = lake.definitions.table(connection, head, name.schema or MAIN, name.name)
    if found is None:
        raise missing("table", name.name)
    return head, [found]


def files(lake: Lake, table: Table, at: Snapshot) -> list[DataFile]:
    with lake.reading() as connection:
        return live_files(lake.catalog, connection, table, at.id)


def by_partition(
    lake: Lake, table: Table, found: list[DataFile]
) -> Iterator[tuple[tuple[str | None, ...], list[DataFile]]]:
    """The files of each partition, in the order in which they were written."""
    if not table.partitioned_by:
        yield (), found
        return
    with lake.reading() as connection:
        values = partition_values(lake.catalog, connection, table)
    groups: dict[tuple[int | None, tuple[str | None, ...]], list[DataFile]] = {}
    for file in found:
        held = values.get(file.id, {})
        key = (file.partition_id, tuple(held.get(n) for n in range(len(held))))
        groups.setdefault(key, []).append(file)
    for (_, texts), members in groups.items():
        yield texts, members
