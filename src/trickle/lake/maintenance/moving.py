"""The live rows of files written into new ones, each with its row id: by the driver where they are few."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from .. import pieces
from ..draft import Draft
from ..local import Limits, read_small
from ..model import ROW_ID, SNAPSHOT_ID, DataFile, Snapshot, Table
from ..scan import BORN, FILE, POSITION, STORED_ROW_ID, ScanRequest, scan

if TYPE_CHECKING:
    from ..lake import Lake


@dataclass(frozen=True)
class Moving:
    """Files of a table whose rows stay what they are and go elsewhere."""

    lake: Lake
    table: Table
    old: tuple[DataFile, ...]
    at: Snapshot
    with_births: bool = False
    staged: Mapping[int, np.ndarray] = field(default_factory=dict)
    """Positions that a transaction has deleted, by file."""

    @cached_property
    def request(self) -> ScanRequest:
        with self.lake.reading() as connection:
            live = pieces.state(self.old, self.at.id)
            parts = [replace(part, staged=self.staged.get(part.file.id, ())) for part in live]
            found = self.lake.request(connection, self.table, parts, [])
        return replace(found, addressed=True, with_birth=self.with_births)

    def written(self, files: int) -> list[DataFile]:
        """The new files, about so many; of a clustered table each is sorted, and holds a range of its keys."""
        found = self.by_driver() if files == 1 else None
        return self._by_spark(files) if found is None else found

    def by_driver(self) -> list[DataFile] | None:
        """The new files where rows are few; None where Spark should write them."""
        rows = self._few()
        if rows is None:
            return None
        ids = self._row_ids(rows)
        order = np.argsort(ids, kind="stable")
        births = rows.column(BORN).to_numpy()[order] if self.with_births else None
        return self.lake.writer(self.table).write_arrow(self._told(rows).take(pa.array(order)), ids[order], births)

    def few(self) -> pa.Table | None:
        """The rows themselves; None where the driver should not hold them."""
        rows = self._few()
        return None if rows is None else self._told(rows)

    def _told(self, rows: pa.Table) -> pa.Table:
        return rows.select([c.name for c in self.table.columns])

    def _few(self) -> pa.Table | None:
        most = int(self.lake.settings["lake.small_write_rows"])
        if sum(f.live for f in self.old) - sum(map(len, self.staged.values())) > most:
            return None
        limits = Limits(int(self.lake.settings["lake.driver_read_mb"]) << 20, most)
        return read_small(self.lake.storage, self.request, limits, self.lake.shelf)

    def _row_ids(self, rows: pa.Table) -> np.ndarray:
        """The embedded row id, or the file's first plus the position."""
        starts = np.array([file.row_id_start or 0 for file in self.old], np.int64)
        by_place = starts[rows.column(FILE).to_numpy()] + rows.column(POSITION).to_numpy()
        stored = rows.column(STORED_ROW_ID)
        known = stored.is_valid().to_numpy()
        return np.asarray(np.where(known, stored.fill_null(0).to_numpy(), by_place))

    def _by_spark(self, files: int) -> list[DataFile]:
        writer = self.lake.writer(self.table)
        rows = self.rows()
        keys = [F.col("`" + name.replace("`", "``") + "`") for name, _, _ in writer.cluster_columns]
        laid = rows.repartitionByRange(files, *keys) if keys and files > 1 else rows.coalesce(files)
        laid = laid.sortWithinPartitions(ROW_ID) if self.with_births and not keys else laid
        return writer.write_spark(laid, with_row_ids=True, with_births=self.with_births)

    def rows(self) -> DataFrame:
        """The rows with their row ids, and births if said."""
        found = scan(self.lake.spark, self.lake.storage, self.request, self.lake.bitmaps)
        found = found.withColumn(ROW_ID, _row_id(self.request)).drop(FILE, POSITION, STORED_ROW_ID)
        return found.withColumnRenamed(BORN, SNAPSHOT_ID) if self.with_births else found


def _row_id(request: ScanRequest) -> Column:
    starts = F.array(*(F.lit(p.file.row_id_start).cast("bigint") for p in request.pieces))
    first = F.element_at(starts, (F.col(FILE) + 1).cast("int"))
    return F.coalesce(F.col(STORED_ROW_ID), first + F.col(POSITION))


def exchange(draft: Draft, table: Table, old: Iterable[DataFile], new: list[DataFile]) -> None:
    """Stage that rows stand elsewhere from now on; old snapshots keep the old files."""
    part = draft.of(table)
    part.moved = True
    for file in old:
        part.end(file)
    draft.add_files(table, new)


def files_for(lake: Lake, old: list[DataFile]) -> int:
    """How many files of the target size the live rows fill."""
    size = sum(f.bytes * f.live // max(f.records, 1) for f in old)
    target = int(lake.settings["lake.target_file_mb"]) << 20
    return max(1, round(size / target))
