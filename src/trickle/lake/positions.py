"""Positions of deleted rows: read from delete files, written into new ones."""

from __future__ import annotations

from collections.abc import Iterable, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from .foreign import translated
from .kept import Kept
from .model import DELETE_PATH_FIELD, DELETE_POS_FIELD, SNAPSHOT_ID, SNAPSHOT_ID_FIELD, DeleteFile
from .pieces import Piece
from .storage import Storage

Positions = np.ndarray
"""Sorted positions (int64)."""
FEW = 20_000
"""Deletes of one file that are worth keeping."""
_KEPT: Kept[pa.Table] = Kept(16 << 20)
_LAYOUT: dict[str, Any] = {
    "compression": "zstd",
    "store_schema": False,
    "use_dictionary": ["file_path", SNAPSHOT_ID],
    "column_encoding": {"pos": "DELTA_BINARY_PACKED"},
}
"""How delete files are written: paths and snapshots repeat, positions grow."""


def dead_positions(storage: Storage, piece: Piece) -> Positions:
    """The positions of the piece's file whose delete counts for it."""
    after, by = piece.dead
    born, at = deaths(storage, piece.deletes, piece.inlined)
    counted = born[(at > after) & (at <= by)] if len(born) else born
    if len(piece.staged):
        counted = np.union1d(counted, np.asarray(piece.staged, dtype=np.int64))
    return counted


def deaths(
    storage: Storage, deletes: Iterable[DeleteFile], inlined: Iterable[tuple[int, int]] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """Positions and the snapshots that deleted them first."""
    parts = [read(storage, d) for d in deletes]
    kept = list(inlined)
    if kept:
        parts.append((np.array([p for p, _ in kept], np.int64), np.array([s for _, s in kept], np.int64)))
    if not parts:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    positions = np.concatenate([p for p, _ in parts])
    snapshots = np.concatenate([s for _, s in parts])
    if (np.diff(positions) > 0).all():
        return positions, snapshots  # one file's, most often, and in order
    order = np.lexsort((snapshots, positions))
    positions, first = np.unique(positions[order], return_index=True)
    return positions, snapshots[order][first]


def read(storage: Storage, delete: DeleteFile) -> tuple[np.ndarray, np.ndarray]:
    """One delete file: positions, and the snapshot of each (its own, or the file's)."""
    few = delete.count <= FEW
    data = _few(storage, delete.path) if few else _content(storage, delete.path)
    positions = data.column("pos").to_numpy().astype(np.int64)
    if SNAPSHOT_ID not in data.column_names:
        return positions, np.full(len(positions), delete.begin, np.int64)
    said = data.column(SNAPSHOT_ID).fill_null(delete.begin).to_numpy().astype(np.int64)
    at = said.copy() if delete.moves else said
    for move in delete.moves:
        at[said == move.said] = move.last
    return positions, at


def stamps(storage: Storage, delete: DeleteFile) -> list[int]:
    """The snapshots that a delete file says its rows died in."""
    _, at = read(storage, replace(delete, moves=()))
    return [int(id) for id in np.unique(at)]


def _content(storage: Storage, path: str) -> pa.Table:
    system, bare = storage.filesystem(path)
    with translated("delete file"), pq.ParquetFile(bare, filesystem=system) as file:
        return file.read(columns=[n for n in ("pos", SNAPSHOT_ID) if n in file.schema_arrow.names])


def _few(storage: Storage, path: str) -> pa.Table:
    """The same, kept: everyone who reads the data file reads it, and it never changes."""
    found = _KEPT.get((storage.root, path))
    if found is None:
        found = _content(storage, path)
        _put(storage, path, found)
    return found


def _put(storage: Storage, path: str, data: pa.Table) -> None:
    _KEPT.put((storage.root, path), data, 1024 + data.nbytes)


def forget(storage: Storage, paths: Set[str]) -> None:
    """What is known of files that were removed."""
    _KEPT.forget(lambda key: key[0] == storage.root and key[1] in paths)


def joined(old: Positions, at: np.ndarray, gone: Positions, snapshot: int) -> tuple[Positions, np.ndarray]:
    """What was deleted before and what is deleted now, both sorted, each with the snapshot that deleted it first.

    >>> [side.tolist() for side in joined(np.array([1, 4]), np.array([7, 8]), np.array([2, 4, 9]), 10)]
    [[1, 2, 4, 9], [7, 10, 8, 10]]
    """
    fresh = gone[~among(gone, old)]
    merged = np.concatenate([old, fresh])
    stamps = np.concatenate([at, np.full(len(fresh), snapshot, np.int64)])
    order = np.argsort(merged, kind="stable")  # which takes two sorted runs for what they are
    return merged[order], stamps[order]


def among(positions: Positions, others: Positions) -> np.ndarray:
    """Of each of the sorted positions, whether it is one of the others, sorted as well.

    >>> among(np.array([2, 4, 9]), np.array([1, 4])).tolist(), among(np.array([2]), np.array([], int)).tolist()
    ([False, True, False], [False])
    """
    if not len(others):
        return np.zeros(len(positions), bool)
    at = np.minimum(np.searchsorted(others, positions), len(others) - 1)
    return np.asarray(others[at] == positions)


def read_many(storage: Storage, pieces: list[Piece]) -> list[Positions]:
    if len(pieces) < 4:
        return [dead_positions(storage, p) for p in pieces]
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(lambda p: dead_positions(storage, p), pieces))


def write(
    storage: Storage, table_path: str, data_path: str, positions: Positions, snapshots: np.ndarray | None
) -> DeleteFile:
    """A new delete file; with `snapshots`, each position carries the one that deleted it."""
    path = storage.new_file(table_path, "-delete")
    # A path for each row, as the format has it, but written once: as texts they would take most of the time.
    paths = pa.DictionaryArray.from_arrays(np.zeros(len(positions), np.int32), [data_path])
    fields = [_field("file_path", paths.type, DELETE_PATH_FIELD), _field("pos", pa.int64(), DELETE_POS_FIELD)]
    columns = [paths, pa.array(positions)]
    partial_max = None
    if snapshots is not None:
        fields.append(_field(SNAPSHOT_ID, pa.int64(), SNAPSHOT_ID_FIELD))
        columns.append(pa.array(snapshots))
        partial_max = int(snapshots.max())
    data = pa.Table.from_arrays(columns, schema=pa.schema(fields))
    written = pa.BufferOutputStream()
    pq.write_table(data, written, **_LAYOUT)
    content = written.getvalue()
    system, bare = storage.filesystem(path)
    with translated("delete file"), system.open_output_stream(bare, compression=None) as file:
        file.write(content)
    if len(positions) <= FEW:
        _put(storage, path, data.drop_columns("file_path"))  # what is written will be read
    begin = -1 if snapshots is None else int(snapshots.min())
    footer_bytes = int.from_bytes(content[-8:-4].to_pybytes(), "little")
    return DeleteFile(-1, path, len(positions), content.size, footer_bytes, begin, partial_max)


def _field(name: str, type: pa.DataType, id: int) -> pa.Field:
    return pa.field(name, type, nullable=False, metadata={"PARQUET:field_id": str(id)})
