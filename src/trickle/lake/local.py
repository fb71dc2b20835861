"""Pieces of files as an Arrow table, read by the driver: for changes so small that a Spark job would cost more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..plan.names import FILE, POSITION
from . import positions
from .foreign import translated
from .inlined import InlinedRows
from .model import ROW_ID_FIELD, SNAPSHOT_ID_FIELD, WEIGHT, Column, Table
from .pieces import Life, Piece
from .scan import STORED_ROW_ID, ScanRequest
from .storage import Storage
from .text import word
from .types import ARROW_FIELD_ID, to_arrow

MOST_BYTES = 32 << 20
"""Compressed bytes of columns that the driver reads for one change."""
SMALL_STATE = 2 << 20
"""Bytes of files up to which a refresh reads a state by the driver."""
MOST_PIECES = 64
_PLAIN = frozenset({"boolean", "date", "decimal", "blob", "timestamp", "timestamptz", "varchar"}) | frozenset(
    {"float32", "float64", "int8", "int16", "int32", "int64"}
)


def read_small(storage: Storage, request: ScanRequest, most_bytes: int = MOST_BYTES) -> pa.Table | None:
    """The rows of the request, with their weights or addresses if asked for; None where Spark should read them."""
    if len(request.pieces) > MOST_PIECES or not _is_plain(request.table.columns):
        return None
    if request.lacking or request.retyped or request.names or request.with_birth:
        return None
    if sum(p.file.bytes for p in request.pieces if not p.only_deleted) > most_bytes:
        return None
    schema = arrow_schema(request)
    parts = [_inlined(request, n, rows) for n, rows in enumerate(request.inlined)]
    left = most_bytes
    for ordinal, piece in enumerate(request.pieces):
        with translated(f'table "{request.table.label}"'):
            reading = _Reading.of(storage, request, ordinal, piece)
            left -= reading.bytes
            part = reading.rows() if left >= 0 else None
        if part is None:
            return None
        parts.append(part)
    return pa.concat_tables([p.cast(schema) for p in parts]) if parts else schema.empty_table()


def arrow_schema(request: ScanRequest) -> pa.Schema:
    """The columns of the table and those that the request adds."""
    schema = to_arrow(request.table.columns, request.table.label)
    for name in _added(request):
        schema = schema.append(pa.field(name, pa.int64()))
    return schema


def _added(request: ScanRequest) -> tuple[str, ...]:
    placed = (FILE, POSITION, STORED_ROW_ID) if request.addressed else ()
    return (*placed, WEIGHT) if request.weighted else placed


def _with(rows: pa.Table, added: Mapping[str, np.ndarray | pa.Array]) -> pa.Table:
    for name, values in added.items():
        rows = rows.append_column(name, pa.array(values, pa.int64()) if isinstance(values, np.ndarray) else values)
    return rows


def _inlined(request: ScanRequest, number: int, rows: InlinedRows) -> pa.Table:
    size, ids = len(rows.row_ids), np.array(rows.row_ids, np.int64)
    known = {
        FILE: np.full(size, -1 - number, np.int64),
        POSITION: ids,
        STORED_ROW_ID: ids,
        WEIGHT: np.full(size, rows.weight, np.int64),
    }
    return _with(rows.data, {n: known[n] for n in _added(request)})


def _is_plain(columns: Sequence[Column]) -> bool:
    return all(word(c.type) in _PLAIN for c in columns)


@dataclass(frozen=True)
class _Reading:
    """What is read of one file: the row groups that hold wanted rows, the columns asked for."""

    request: ScanRequest
    ordinal: int
    piece: Piece
    file: pq.ParquetFile
    held: dict[int, str]
    """Field id → name in the file."""
    dead: np.ndarray
    groups: list[int]

    @classmethod
    def of(cls, storage: Storage, request: ScanRequest, ordinal: int, piece: Piece) -> _Reading:
        system, path = storage.filesystem(piece.file.path)
        file = pq.ParquetFile(path, filesystem=system)
        held = {int((f.metadata or {}).get(ARROW_FIELD_ID, b"-1")): f.name for f in file.schema_arrow}
        dead = positions.dead_positions(storage, piece) if piece.has_deletes else np.empty(0, np.int64)
        groups = list(range(file.num_row_groups))
        if piece.only_deleted:
            groups = np.unique(np.searchsorted(_ends(file, groups), dead, side="right")).tolist()
        return cls(request, ordinal, piece, file, held, dead, groups)

    @property
    def table(self) -> Table:
        return self.request.table

    @property
    def names(self) -> list[str]:
        """The columns to read; where there is none, any one tells how many rows there are."""
        wanted = [self.held[c.id] for c in self.table.columns if c.id in self.held]
        if self.piece.life is not None and SNAPSHOT_ID_FIELD in self.held:
            wanted.append(self.held[SNAPSHOT_ID_FIELD])
        if self.request.addressed and ROW_ID_FIELD in self.held:
            wanted.append(self.held[ROW_ID_FIELD])
        return wanted or self.file.schema_arrow.names[:1]

    @property
    def bytes(self) -> int:
        metadata, names = self.file.metadata, set(self.names)
        sizes = 0
        for group in self.groups:
            chunks = metadata.row_group(group)
            for n in range(chunks.num_columns):
                chunk = chunks.column(n)
                if chunk.path_in_schema.split(".", 1)[0] in names:
                    sizes += chunk.total_compressed_size
        return sizes

    def rows(self) -> pa.Table | None:
        """The piece's rows in the table's columns; None if a column is not what its type says."""
        data = self.file.read_row_groups(self.groups, columns=self.names)
        chosen = self._chosen(data.num_rows)
        if chosen is not None:
            data = data.take(pa.array(chosen))
        places = np.arange(data.num_rows) if chosen is None else chosen
        if self.piece.life is not None:
            born = self._born(data, self.piece.life)
            data, places = data.filter(pa.array(born)), places[born]
        arrays = []
        for column, field in zip(self.table.columns, to_arrow(self.table.columns, self.table.label), strict=True):
            array = _cast(data, self.held.get(column.id), field.type)
            if array is None:
                return None
            arrays.append(array)
        rows = pa.Table.from_arrays(arrays, names=[c.name for c in self.table.columns])
        return _with(rows, {n: v for n, v in self._known(data, places).items() if n in _added(self.request)})

    def _known(self, data: pa.Table, places: np.ndarray) -> dict[str, np.ndarray | pa.Array]:
        """What is known of each row beside its columns; `places` hold for pieces read as a whole."""
        size = data.num_rows
        own = self.held.get(ROW_ID_FIELD)
        return {
            FILE: np.full(size, self.ordinal, np.int64),
            POSITION: places.astype(np.int64),
            STORED_ROW_ID: data.column(own) if own in data.schema.names else pa.nulls(size, pa.int64()),
            WEIGHT: np.full(size, self.piece.weight, np.int64),
        }

    def _chosen(self, size: int) -> np.ndarray | None:
        """Of the rows read, the deleted ones, or all others; None for all."""
        if self.piece.only_deleted:
            return self._within(self.dead)
        return np.setdiff1d(np.arange(size), self.dead, assume_unique=True) if len(self.dead) else None

    def _within(self, places: np.ndarray) -> np.ndarray:
        """Positions in the file as positions in the row groups that were read."""
        ends = _ends(self.file, list(range(self.file.num_row_groups)))
        starts = np.r_[0, ends[:-1]]
        sizes = (ends - starts)[self.groups]
        local = np.r_[0, np.cumsum(sizes)[:-1]]
        group = np.searchsorted(ends, places, side="right")
        return np.asarray(places - starts[group] + local[np.searchsorted(np.asarray(self.groups), group)])

    def _born(self, data: pa.Table, life: Life) -> np.ndarray:
        name = self.held.get(SNAPSHOT_ID_FIELD)
        begin = self.piece.file.begin
        if name is None:
            return np.full(data.num_rows, life.holds(begin))
        born = data.column(name).fill_null(begin).to_numpy()
        moved = np.isin(born, sorted(life.moved))
        return np.asarray(np.where(moved, life.moved_too, (born > life.after) & (born <= life.by)))


def _ends(file: pq.ParquetFile, groups: list[int]) -> np.ndarray:
    """The position behind the last row of each row group."""
    return np.cumsum([file.metadata.row_group(g).num_rows for g in groups], dtype=np.int64)


def _cast(data: pa.Table, name: str | None, type: pa.DataType) -> pa.ChunkedArray | None:
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
