"""What a refresh reads of each source: its state before, its state after, the change in between."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from ..execute.transaction import Transaction
from ..lake import snapshots
from ..lake.held import Held, Rows
from ..lake.lake import Lake
from ..lake.model import Bound, Snapshot, Table
from ..plan import STORED, Version
from . import staged
from .lookups import Read, condition


@dataclass(frozen=True)
class Window:
    """The range of one source that a refresh covers; snapshots of the lake."""

    table: Table
    start: Snapshot | None
    """None: there is no state before (the first load)."""
    end: Snapshot
    within: Transaction | None = None
    """The range ends with what this transaction holds of the table, not with a snapshot."""


MANY_ROWS = 4_000_000
"""Rows of a state from which on Spark's reader is told the keys that are looked up."""
Columns = frozenset[str] | None
"""The columns that are wanted of a relation; None for all."""
Maker = Callable[[Columns, Sequence[Bound]], Rows]
"""Reads a relation: at least these columns, and the rows within these bounds."""


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
    return lambda columns, bounds: within.read(window.table, bounds)


def _state(lake: Lake, table: Table, at: Snapshot) -> Maker:
    def read(columns: Columns, bounds: Sequence[Bound]) -> Rows:
        rows, files, _ = lake.read_state(narrowed(table, columns), at, bounds)
        # Of a large state Spark's reader is told the keys: to read less costs less than to plan for other keys.
        asked = condition(bounds) if sum(f.records for f in files) > MANY_ROWS else None
        return rows if asked is None or isinstance(rows, Held) else rows.where(asked)

    return read


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


def changed_tables(
    lake: Lake, start: int, end: int, among: Collection[int] | None = None
) -> tuple[dict[int, int], dict[int, int]]:
    """Ids of tables whose rows, and of tables whose definition, changed in (start, end], with the last such snapshot.

    By the catalog alone; with `among`, only of these tables.
    """
    with lake.reading() as connection:
        made = snapshots.made(lake.catalog, connection, start, end, among)
    rows: dict[int, int] = {}
    definitions: dict[int, int] = {}
    for id, changes in made:
        for kind, what in snapshots.tokens(changes):
            if what.isdigit():
                if kind in snapshots.ROWS_CHANGED:
                    rows[int(what)] = id
                elif kind in ("altered_table", "dropped_table"):
                    definitions[int(what)] = id
    return rows, definitions
