"""One file read by the driver: the row groups that hold wanted rows, the columns asked for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np
import pyarrow as pa

from ..plan.names import FILE, POSITION
from . import positions
from .model import ROW_ID_FIELD, SNAPSHOT_ID_FIELD, WEIGHT, Bound, Table
from .picked import picked
from .pieces import Life, Piece
from .scan import BORN, STORED_ROW_ID, ScanRequest, added
from .shelf import FEW_ROWS, Footer, GroupStats, Shelf
from .storage import Storage


@dataclass(frozen=True)
class Reading:
    """What is read of one file: the row groups that hold wanted rows, the columns asked for."""

    request: ScanRequest
    ordinal: int
    piece: Piece
    shelf: Shelf
    footer: Footer
    dead: np.ndarray
    groups: list[int]
    schema: pa.Schema

    @classmethod
    def of(
        cls, storage: Storage, request: ScanRequest, ordinal: int, piece: Piece, shelf: Shelf, schema: pa.Schema
    ) -> Reading:
        footer = shelf.footer(storage, piece.file)
        dead = positions.dead_positions(storage, piece) if piece.has_deletes else np.empty(0, np.int64)
        groups = list(range(len(footer.ends)))
        if piece.only_deleted:
            groups = np.unique(np.searchsorted(footer.ends, dead, side="right")).tolist()
        for bound in request.bounds:
            column = request.table.column(bound.column)
            if column is not None and column.id in footer.held:
                stats = footer.stats(footer.held[column.id])
                groups = [g for g in groups if _may_hold(stats[g], bound)]
        return cls(request, ordinal, piece, shelf, footer, dead, groups, schema)

    @property
    def held(self) -> dict[int, str]:
        """Field id → name in the file."""
        return self.footer.held

    @property
    def table(self) -> Table:
        return self.request.table

    @property
    def names(self) -> list[str]:
        """The columns to read; where there is none, any one tells how many rows there are."""
        wanted = [self.held[c.id] for c in self.table.columns if c.id in self.held]
        asks_birth = self.piece.life is not None or self.request.with_birth
        if asks_birth and SNAPSHOT_ID_FIELD in self.held:
            wanted.append(self.held[SNAPSHOT_ID_FIELD])
        if self.request.addressed and ROW_ID_FIELD in self.held:
            wanted.append(self.held[ROW_ID_FIELD])
        return wanted or self.footer.schema.names[:1]

    @property
    def is_small(self) -> bool:
        """Whether the file is best gone through with others: in one piece, its rows all of one time."""
        is_whole = self.groups == [0] and len(self.footer.ends) == 1 and int(self.footer.ends[0]) <= FEW_ROWS
        return is_whole and self.piece.life is None and not self.request.with_birth

    @property
    def cost(self) -> int:
        return self.shelf.cost(self.footer, self.groups, self.names)

    def rows(self) -> pa.Table | None:
        """The piece's rows in the table's columns; None if a column is not what its type says."""
        data = self.shelf.read(self.footer, self.groups, self.names)
        chosen = self._chosen(data)
        if len(chosen) < data.num_rows:
            data = picked(data, chosen)
        rows = self.typed(data)
        if rows is None:
            return None
        known = self._known(data, chosen)
        return with_columns(rows, {name: known[name] for name in added(self.request)})

    def typed(self, data: pa.Table) -> pa.Table | None:
        """What was read in the table's columns; None if one is not what its type says."""
        arrays = []
        for column in self.table.columns:
            array = cast(data, self.held.get(column.id), self.schema.field(column.name).type)
            if array is None:
                return None
            arrays.append(array)
        return pa.Table.from_arrays(arrays, names=[c.name for c in self.table.columns])

    def _known(self, data: pa.Table, chosen: np.ndarray) -> dict[str, np.ndarray | pa.Array]:
        """What is known of each row beside its columns."""
        size = data.num_rows
        return {
            FILE: np.full(size, self.ordinal, np.int64),
            POSITION: self._places(chosen),
            STORED_ROW_ID: self.row_ids(data),
            BORN: self._births(data),
            WEIGHT: np.full(size, self.piece.weight, np.int64),
        }

    def row_ids(self, data: pa.Table) -> pa.Array | pa.ChunkedArray:
        """The row ids that the file holds itself; NULL where its rows are counted from its first."""
        own = self.held.get(ROW_ID_FIELD)
        return data.column(own) if own in data.schema.names else pa.nulls(data.num_rows, pa.int64())

    def _births(self, data: pa.Table) -> np.ndarray:
        """The snapshot each row was born at: its own, or the file's."""
        name, begin = self.held.get(SNAPSHOT_ID_FIELD), self.piece.file.begin
        if name is None or name not in data.schema.names:
            return np.full(data.num_rows, begin, np.int64)
        return np.asarray(data.column(name).fill_null(begin).to_numpy())

    def _chosen(self, data: pa.Table) -> np.ndarray:
        """Of the rows read, by number: the deleted ones or all others, of the piece's life, within the bounds."""
        found, dead = self._found(data), self._within(self.dead)
        if self.piece.only_deleted:
            chosen = dead if found is None else np.intersect1d(found, dead, assume_unique=True)
        else:
            chosen = np.arange(data.num_rows) if found is None else found
            chosen = np.setdiff1d(chosen, dead, assume_unique=True) if len(dead) else chosen
        return chosen if self.piece.life is None else chosen[self._born(data, self.piece.life)[chosen]]

    def _found(self, data: pa.Table) -> np.ndarray | None:
        """The rows within the bounds; None: all."""
        columns = [(self.table.column(bound.column), bound) for bound in self.request.bounds]
        named = [(self.held.get(column.id), bound) for column, bound in columns if column is not None]
        asked = tuple((name, bound) for name, bound in named if name is not None and name in data.column_names)
        return self.shelf.found(self.footer, self.groups, data, asked) if asked else None

    def _places(self, chosen: np.ndarray) -> np.ndarray:
        """The positions of rows in the file."""
        sizes = np.diff(self.footer.ends, prepend=0)[self.groups]
        before = self.footer.ends[self.groups] - np.cumsum(sizes)
        return np.asarray(chosen + before[np.searchsorted(np.cumsum(sizes), chosen, side="right")])

    def _within(self, places: np.ndarray) -> np.ndarray:
        """Positions in the file as positions in the row groups that were read; those in others are left out."""
        if not len(places) or not self.groups:
            return np.empty(0, np.int64)
        ends = self.footer.ends
        starts = np.r_[0, ends[:-1]]
        local = np.full(len(ends), -1)
        local[self.groups] = np.r_[0, np.cumsum((ends - starts)[self.groups])[:-1]]
        group = np.searchsorted(ends, places, side="right")
        found = local[group] >= 0
        return np.asarray((places - starts[group] + local[group])[found])

    def _born(self, data: pa.Table, life: Life) -> np.ndarray:
        if self.held.get(SNAPSHOT_ID_FIELD) is None:
            return np.full(data.num_rows, life.holds(self.piece.file.begin))
        born = self._births(data)
        moved = np.isin(born, sorted(life.moved))
        return np.asarray(np.where(moved, life.moved_too, (born > life.after) & (born <= life.by)))


def _may_hold(stats: GroupStats, bound: Bound) -> bool:
    """Whether the row group may hold a row within the bound, by its statistics.

    Asked only of types whose statistics pyarrow surely gives as values of that type.
    """
    asked = bound.values if bound.values is not None else [e for e in (bound.low, bound.high) if e is not None]
    if asked and not {type(asked[0]), type(asked[-1])} <= {int, str, date}:
        return True
    if not stats.has_range or (bound.or_null and stats.nulls != 0):
        return True
    if bound.values is None:
        low, high = stats.min if bound.low is None else bound.low, stats.max if bound.high is None else bound.high
        return any(first <= stats.max and last >= stats.min for first, last in bound.spans or ((low, high),))
    at = bisect_left(bound.values, stats.min)
    return at < len(bound.values) and bound.values[at] <= stats.max


def cast(data: pa.Table, name: str | None, type: pa.DataType) -> pa.ChunkedArray | None:
    if name is None:
        return pa.chunked_array([pa.nulls(data.num_rows, type)])
    column = data.column(name)
    if column.type == type:
        return column
    if pa.types.is_temporal(type) or pa.types.is_temporal(column.type):
        return None
    try:
        return column.cast(type)
    except pa.ArrowInvalid:
        return None


def with_columns(rows: pa.Table, known: Mapping[str, np.ndarray | pa.Array]) -> pa.Table:
    for name, values in known.items():
        rows = rows.append_column(name, pa.array(values, pa.int64()) if isinstance(values, np.ndarray) else values)
    return rows
