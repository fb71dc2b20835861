"""Rows that a statement changes: gathered once, then turned into deleted positions and new files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ..errors import ConstraintViolated
from ..lake.foreign import translated
from ..lake.model import ROW_ID, DataFile, Table
from ..lake.scan import FILE, POSITION, STORED_ROW_ID
from ..lake.types import unnumbered
from ..lake.write import grouped_positions
from .transaction import Located, Transaction

OPERATION = "__trickle_op"
DELETE, UPDATE, INSERT = 0, 1, 2


@dataclass
class Staged:
    """Rows that were evaluated once, into files."""

    frame: DataFrame
    folder: str

    def select(self, names: list[str]) -> pa.Table:
        """Few columns of them, read by the driver."""
        return self._files.to_table(columns=names)

    @property
    def bytes(self) -> int:
        """About what they take, by the files' footers."""
        return sum(group.total_byte_size for file in self._files.get_fragments() for group in file.row_groups)

    @property
    def _files(self) -> ds.Dataset:
        return ds.dataset(self.folder, format="parquet")


Gathered: TypeAlias = pa.Table | Staged
"""The rows a statement touches, evaluated exactly once: in memory if few, staged on disk if many."""


@contextmanager
def gathered(
    transaction: Transaction, rows: DataFrame, most_rows: int, table: Table, only_places: bool = False
) -> Iterator[Gathered]:
    """Evaluate the rows; `most_rows` bounds how many there can be, `only_places` says that they are narrow."""
    lake = transaction.lake
    small = lake.settings["lake.small_delete_rows"]
    if most_rows <= small or only_places:
        with translated(f'table "{table.label}"'):
            few = (rows if most_rows <= small else rows.limit(small + 1)).toArrow()
        if few.num_rows <= small:
            yield few
            return
        del few  # more than that: staged below, by an evaluation of its own
    with staged(transaction, rows, table) as work:
        yield work


@contextmanager
def staged(transaction: Transaction, rows: DataFrame, table: Table) -> Iterator[Staged]:
    """Evaluate the rows, however many, into files that are gone afterwards."""
    lake = transaction.lake
    folder = lake.storage.new_folder(table.path)
    try:
        with translated(f'table "{table.label}"'):
            rows.write.parquet(folder)
            found = lake.spark.read.schema(unnumbered(rows.schema)).parquet(folder)
        yield Staged(found, folder)
    finally:
        lake.storage.remove_folder(folder)


def apply(transaction: Transaction, table: Table, located: Located, work: Gathered) -> int:
    """Delete the rows marked DELETE or UPDATE, write those marked UPDATE or INSERT; how many were touched."""
    places = work.select([OPERATION, FILE, POSITION])
    operations = places.column(OPERATION).to_numpy()
    if not len(operations):
        return 0
    leaving = operations != INSERT
    files = places.column(FILE).fill_null(0).to_numpy()[leaving]
    positions = places.column(POSITION).fill_null(0).to_numpy()[leaving]
    _refuse_twice(table, files, positions)
    remove(transaction, table, located, files, positions)
    if (operations == UPDATE).any():
        _write_updates(transaction, table, located, work)
    if (operations == INSERT).any():
        _write_inserts(transaction, table, work)
    return len(operations)


def remove(transaction: Transaction, table: Table, located: Located, files: np.ndarray, positions: np.ndarray) -> None:
    """Mark rows as deleted, by the file they stand in."""
    part = transaction.draft.of(table)
    for ordinal, gone in grouped_positions(files.astype(np.int64), positions.astype(np.int64)).items():
        if ordinal >= 0:
            part.remove(located.files[ordinal], gone)
        else:
            store = located.inlined[-1 - ordinal].store
            part.inlined_removed.setdefault(store, set()).update(gone.tolist())


def _refuse_twice(table: Table, files: np.ndarray, positions: np.ndarray) -> None:
    order = np.lexsort((positions, files))
    if ((np.diff(files[order]) == 0) & (np.diff(positions[order]) == 0)).any():
        raise ConstraintViolated(
            f'MERGE INTO "{table.label}": a row matches several source rows',
            detail="it is not defined which of them should win.",
            hint="make the source unique on the ON condition, e.g. with GROUP BY or row_number().",
        )


def _write_updates(transaction: Transaction, table: Table, located: Located, work: Gathered) -> None:
    """Updated rows keep their row ids, except those that this very transaction inserted."""
    writer = transaction.lake.writer(table)
    names = [c.name for c in table.columns]
    if isinstance(work, pa.Table):
        chosen = work.filter(pc.equal(work.column(OPERATION), UPDATE))
        ids = _row_ids(chosen, located.files)
        kept = ids >= 0
        for mask, with_ids in ((kept, True), (~kept, False)):
            if mask.any():
                data = chosen.filter(pa.array(mask)).select(names)
                transaction.draft.add_files(table, writer.write_arrow(data, ids[mask] if with_ids else None))
        return
    rows = work.frame.where(F.col(OPERATION) == UPDATE).withColumn(ROW_ID, _row_id_column(located.files))
    columns = [F.col("`" + n.replace("`", "``") + "`") for n in names]
    has_own = any(f.id < 0 for f in located.files)
    known = rows.where(F.col(ROW_ID) >= 0) if has_own else rows
    transaction.draft.add_files(table, writer.write_spark(known.select(*columns, ROW_ID), with_row_ids=True))
    if has_own:
        transaction.draft.add_files(table, writer.write_spark(rows.where(F.col(ROW_ID) < 0).select(*columns)))


def _write_inserts(transaction: Transaction, table: Table, work: Gathered) -> None:
    writer = transaction.lake.writer(table)
    names = [c.name for c in table.columns]
    if isinstance(work, pa.Table):
        chosen = work.filter(pc.equal(work.column(OPERATION), INSERT)).select(names)
        transaction.draft.add_files(table, writer.write_arrow(chosen))
        return
    columns = [F.col("`" + n.replace("`", "``") + "`") for n in names]
    rows = work.frame.where(F.col(OPERATION) == INSERT).select(*columns)
    transaction.draft.add_files(table, writer.write_spark(rows))


def _row_ids(rows: pa.Table, files: list[DataFile]) -> np.ndarray:
    """Row id = embedded one, or the file's first plus the position; −1 where the row has none yet."""
    stored = rows.column(STORED_ROW_ID).fill_null(-1).to_numpy()
    ordinals = rows.column(FILE).to_numpy()
    starts = np.array([_start(f) for f in files] or [-1], np.int64)
    start = starts[np.maximum(ordinals, 0)]
    derived = np.where(start >= 0, start + rows.column(POSITION).to_numpy(), -1)
    return np.where(stored >= 0, stored, derived)


def _row_id_column(files: list[DataFile]) -> Column:
    starts = F.array(*(F.lit(_start(f)).cast("bigint") for f in files))
    start = F.element_at(starts, (F.col(FILE) + 1).cast("int"))
    derived = F.when(start >= 0, start + F.col(POSITION)).otherwise(F.lit(-1))
    return F.coalesce(F.col(STORED_ROW_ID), derived)


def _start(file: DataFile) -> int:
    return -1 if file.row_id_start is None or file.id < 0 else file.row_id_start
