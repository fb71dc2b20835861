"""What a refresh reads of each source: its state before, its state after, the change in between."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa
from pyspark.sql import DataFrame

from ..execute.transaction import Transaction
from ..lake import snapshots
from ..lake.lake import Held, Lake
from ..lake.model import Bound, Snapshot, Table
from ..plan import STORED, Version
from ..sql.names import quote_spark
from . import staged
from .lookups import Lookup, Read, bounds, sought
from .statements import Statement

_DATA = frozenset({"inserted_into_table", "deleted_from_table", "inlined_insert", "inlined_delete"})


@dataclass(frozen=True)
class Window:
    """The range of one source that a refresh covers; snapshots of the lake."""

    table: Table
    start: Snapshot | None
    """None: there is no state before (the first load)."""
    end: Snapshot
    within: Transaction | None = None
    """The range ends with what this transaction holds of the table, not with a snapshot."""


Columns = frozenset[str] | None
"""The columns that are wanted of a relation; None for all."""
Maker = Callable[[Columns, Sequence[Bound]], DataFrame | Held]
"""Reads a relation: at least these columns, and the rows within these bounds."""


@dataclass
class Frames:
    """The relations that a refresh's SQL names."""

    lake: Lake
    prefix: str
    """Begins the names; the same for each refresh of a table, so that its SQL text stays the same."""
    tables: Mapping[str, Table]
    makers: dict[Read, Maker]
    made: dict[Read, str] = field(default_factory=dict)
    held: dict[Read, pa.Table] = field(default_factory=dict)
    """Rows of relations that the driver holds."""

    def name(self, table: str, version: Version) -> str:
        """The name, as SQL text, of a table in one of its versions."""
        return quote_spark(self._name(table, version))

    def relation(self, table: str, version: Version) -> str:
        """The same, the relation made when it is asked for first."""
        self.make((table, version), None)
        return self.name(table, version)

    def run(self, statement: Statement) -> DataFrame:
        for read, columns in statement.reads.items():
            self.make(read, columns, statement.lookups.get(read[0]))
        return self.lake.spark.sql(statement.text)

    def make(self, read: Read, columns: Columns, lookup: Lookup | None = None) -> None:
        """Let Spark know the relation, with these columns at least."""
        if read in self.made:
            return
        frame = self._found(lookup, columns) if lookup else self._held(read, self.makers[read](columns, ()))
        self.made[read] = self._name(*read)
        frame.createOrReplaceTempView(self.made[read])

    def replace(self, read: Read, frame: DataFrame) -> None:
        """From now on the relation is this one."""
        self.made[read] = self._name(*read)
        frame.createOrReplaceTempView(self.made[read])

    def beside(self, name: str) -> Frames:
        """The same relations under names of their own, for a part of the refresh that reads other columns."""
        return Frames(self.lake, f"{self.prefix}_{name}", self.tables, self.makers)

    def _found(self, lookup: Lookup, columns: Columns) -> DataFrame:
        """A state looked up: files that cannot hold a key are not read."""
        known = bounds(lookup, self.tables[lookup.table], self.held)
        found = self.makers[lookup.table, lookup.version](columns, known)
        return found.frame(self.lake.spark) if isinstance(found, Held) else found

    def _held(self, read: Read, made: DataFrame | Held) -> DataFrame:
        if not isinstance(made, Held):
            return made
        self.held[read] = made.rows
        return made.frame(self.lake.spark)

    def _name(self, table: str, version: Version) -> str:
        digest = hashlib.sha256(table.encode()).hexdigest()[:8]
        return f"{self.prefix}_{digest}_{version.value}"

    def close(self) -> None:
        from ..spark import is_connect

        if is_connect(self.lake.spark):
            return
        for name in self.made.values():
            self.lake.spark.catalog.dropTempView(name)


def makers(lake: Lake, windows: Mapping[str, Window]) -> dict[Read, Maker]:
    """How each relation of a refresh is read."""
    found: dict[Read, Maker] = {}
    for name, window in windows.items():
        found[name, Version.AFTER] = _state_after(lake, window)
        if window.start is not None:
            found[name, Version.BEFORE] = _state(lake, window.table, window.start)
            found[name, Version.CHANGES] = _changes(lake, window)
    return found


def held_in(transaction: Transaction, table: Table, start: Snapshot | None = None) -> Window:
    """The range that ends with what a transaction holds; it begins where the transaction does, unless told."""
    return Window(table, start or transaction.base, transaction.base, transaction)


def stored_makers(transaction: Transaction, stored: Table) -> dict[Read, Maker]:
    """How the rows that a refresh moves are read, as its transaction has them."""
    maker = _state_after(transaction.lake, Window(stored, None, transaction.base, transaction))
    return {(STORED, version): maker for version in Version}


def _state_after(lake: Lake, window: Window) -> Maker:
    within = window.within
    if within is None:
        return _state(lake, window.table, window.end)
    return lambda columns, bounds: within.rows(window.table, bounds, here=True)


def _state(lake: Lake, table: Table, at: Snapshot) -> Maker:
    return lambda columns, bounds: sought(*lake.state(narrowed(table, columns), at, bounds, here=True)[:2], bounds)


def _changes(lake: Lake, window: Window) -> Maker:
    start = window.start.id if window.start else -1
    within = window.within
    if within is not None:
        return lambda columns, bounds: staged.changes(within, narrowed(window.table, columns), start)
    return lambda columns, bounds: lake.read_changes(narrowed(window.table, columns), start, window.end.id)


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
