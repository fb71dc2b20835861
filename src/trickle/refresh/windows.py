"""What a refresh reads of each source: its state before, its state after, the change in between."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame

from ..lake import snapshots
from ..lake.lake import Lake
from ..lake.model import Snapshot, Table
from ..plan import STORED, Version
from ..sql.names import quote_spark

_DATA = frozenset({"inserted_into_table", "deleted_from_table", "inlined_insert", "inlined_delete"})


@dataclass(frozen=True)
class Window:
    """The range of one source that a refresh covers; snapshots of the lake."""

    table: Table
    start: Snapshot | None
    """None: there is no state before (the first load)."""
    end: Snapshot


@dataclass
class Frames:
    """The relations that a refresh's SQL names, made when first asked for."""

    lake: Lake
    prefix: str
    """Begins the names; the same for each refresh of a table, so that its SQL text stays the same."""
    makers: Mapping[tuple[str, Version], Callable[[], DataFrame]]
    made: dict[tuple[str, Version], str] = field(default_factory=dict)

    def relation(self, table: str, version: Version) -> str:
        """The name, as SQL text, of a table in one of its versions."""
        key = (table, version)
        if key not in self.made:
            tables = list(dict.fromkeys(table for table, _ in self.makers))
            name = f"{self.prefix}_{tables.index(table)}_{version.value}"
            self.makers[key]().createOrReplaceTempView(name)
            self.made[key] = name
        return quote_spark(self.made[key])

    def close(self) -> None:
        from ..spark import is_connect

        if is_connect(self.lake.spark):
            return
        for name in self.made.values():
            self.lake.spark.catalog.dropTempView(name)


def makers(
    lake: Lake, windows: Mapping[str, Window], stored: tuple[Table, Snapshot] | None
) -> dict[tuple[str, Version], Callable[[], DataFrame]]:
    """How each relation of a scheduled refresh is read."""
    found: dict[tuple[str, Version], Callable[[], DataFrame]] = {}
    for name, window in windows.items():
        found[name, Version.AFTER] = _state(lake, window.table, window.end)
        if window.start is not None:
            found[name, Version.BEFORE] = _state(lake, window.table, window.start)
            found[name, Version.CHANGES] = _changes(lake, window)
    if stored is not None:
        for version in Version:
            found[STORED, version] = _state(lake, *stored)
    return found


def _state(lake: Lake, table: Table, at: Snapshot) -> Callable[[], DataFrame]:
    return lambda: lake.state(table, at)[0]


def _changes(lake: Lake, window: Window) -> Callable[[], DataFrame]:
    start = window.start.id if window.start else -1
    return lambda: lake.raw_changes(window.table, start, window.end.id)


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
