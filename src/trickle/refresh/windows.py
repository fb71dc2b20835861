"""What a refresh reads of each source: its state before, its state after, the change in between."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from ..lake import snapshots
from ..lake.lake import Lake
from ..lake.model import Snapshot, Table
from ..plan import STORED, Version
from ..sql.names import quote_spark

if TYPE_CHECKING:
    from .statements import Statement

_DATA = frozenset({"inserted_into_table", "deleted_from_table", "inlined_insert", "inlined_delete"})


@dataclass(frozen=True)
class Window:
    """The range of one source that a refresh covers; snapshots of the lake."""

    table: Table
    start: Snapshot | None
    """None: there is no state before (the first load)."""
    end: Snapshot


Columns = frozenset[str] | None
"""The columns that are wanted of a relation; None for all."""
Maker = Callable[[Columns], DataFrame]


@dataclass
class Frames:
    """The relations that a refresh's SQL names."""

    lake: Lake
    prefix: str
    """Begins the names; the same for each refresh of a table, so that its SQL text stays the same."""
    makers: dict[tuple[str, Version], Maker]
    made: dict[tuple[str, Version], str] = field(default_factory=dict)

    def name(self, table: str, version: Version) -> str:
        """The name, as SQL text, of a table in one of its versions."""
        return quote_spark(self._name(table, version))

    def relation(self, table: str, version: Version) -> str:
        """The same, the relation made when it is asked for first."""
        self.make(table, version, None)
        return self.name(table, version)

    def make(self, table: str, version: Version, columns: Columns) -> None:
        """Let Spark know the relation, with these columns at least."""
        key = (table, version)
        if key not in self.made:
            self.made[key] = self._name(table, version)
            self.makers[key](columns).createOrReplaceTempView(self.made[key])

    def run(self, statement: Statement) -> DataFrame:
        for (table, version), columns in statement.reads.items():
            self.make(table, version, columns)
        return self.lake.spark.sql(statement.text)

    def _name(self, table: str, version: Version) -> str:
        tables = list(dict.fromkeys(table for table, _ in self.makers))
        return f"{self.prefix}_{tables.index(table)}_{version.value}"

    def close(self) -> None:
        from ..spark import is_connect

        if is_connect(self.lake.spark):
            return
        for name in self.made.values():
            self.lake.spark.catalog.dropTempView(name)


def makers(
    lake: Lake, windows: Mapping[str, Window], stored: tuple[Table, Snapshot] | None
) -> dict[tuple[str, Version], Maker]:
    """How each relation of a scheduled refresh is read."""
    found: dict[tuple[str, Version], Maker] = {}
    for name, window in windows.items():
        found[name, Version.AFTER] = _state(lake, window.table, window.end)
        if window.start is not None:
            found[name, Version.BEFORE] = _state(lake, window.table, window.start)
            found[name, Version.CHANGES] = _changes(lake, window)
    if stored is not None:
        for version in Version:
            found[STORED, version] = _state(lake, *stored)
    return found


def _state(lake: Lake, table: Table, at: Snapshot) -> Maker:
    return lambda columns: lake.state(table, at, here=True)[0]


def _changes(lake: Lake, window: Window) -> Maker:
    start = window.start.id if window.start else -1
    return lambda columns: lake.raw_changes(narrowed(window.table, columns), start, window.end.id)


def narrowed(table: Table, columns: Columns) -> Table:
    """The table with only the columns that are wanted."""
    if columns is None:
        return table
    return replace(table, columns=tuple(c for c in table.columns if c.name in columns) or table.columns[:1])


def changed_tables(lake: Lake, start: int, end: int) -> tuple[dict[int, int], dict[int, int]]:
    """Ids of tables whose rows, and of tables whose definition, changed in (start, end], with the last such snapshot.

    By the catalog alone.
    """
    with lake.reading() as connection:
        since = snapshots.listing(lake.catalog, connection, start)
    rows: dict[int, int] = {}
    definitions: dict[int, int] = {}
    for snapshot in since:
        if snapshot.id > end:
            continue
        for kind, what in snapshots.tokens(snapshot.changes):
            if what.isdigit():
                if kind in _DATA:
                    rows[int(what)] = snapshot.id
                elif kind in ("altered_table", "dropped_table"):
                    definitions[int(what)] = snapshot.id
    return rows, definitions
