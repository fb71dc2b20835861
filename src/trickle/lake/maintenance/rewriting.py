"""Files with many deleted rows, written anew without them; old snapshots keep the old files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ...records import Record
from .. import pieces
from ..draft import Draft
from ..model import ROW_ID, DataFile, Snapshot, Table
from ..scan import FILE, POSITION, STORED_ROW_ID, ScanRequest, scan
from .targets import TableName, files, tables

if TYPE_CHECKING:
    from ..lake import Lake


@dataclass(frozen=True)
class Rewritten(Record):
    table: str
    files_before: int
    files_after: int
    snapshot: int


def rewrite_deletes(lake: Lake, name: TableName | None, threshold: float | None) -> Iterator[Rewritten]:
    """Rewrite the files of which more than `threshold` is deleted; one commit a table."""
    share = lake.settings["maintenance.delete_ratio"] if threshold is None else threshold
    head, found = tables(lake, name)
    for table in found:
        worn = [f for f in files(lake, table, head) if deleted(f) > share * f.records]
        if worn:
            after, snapshot = move(lake, table, head, worn, lambda rows: rows.coalesce(1))
            yield Rewritten(table.label, len(worn), after, snapshot)


def deleted(file: DataFile) -> int:
    return (file.delete.count if file.delete else 0) + len(file.inlined_deletes)


def move(
    lake: Lake,
    table: Table,
    head: Snapshot,
    old: list[DataFile],
    arrange: Callable[[DataFrame], DataFrame],
) -> tuple[int, int]:
    """Write the live rows of files into new ones, row ids kept, and swap them in; no row changes."""
    rows = arrange(with_row_ids(lake, table, head, old))
    new = lake.writer(table).write_spark(rows, with_row_ids=True)
    draft = Draft(head, message="rewrite files")
    part = draft.of(table)
    part.moved = True
    for file in old:
        part.end(file)
    draft.add_files(table, new)
    return len(new), lake.commit(draft)


def with_row_ids(lake: Lake, table: Table, head: Snapshot, old: list[DataFile]) -> DataFrame:
    with lake.reading() as connection:
        request = lake.request(connection, table, pieces.state(old, head.id), [])
    located = scan(lake.spark, lake.storage, replace(request, addressed=True), lake.bitmaps)
    return located.withColumn(ROW_ID, row_id(request)).drop(FILE, POSITION, STORED_ROW_ID)


def row_id(request: ScanRequest) -> Column:
    """The embedded row id, or the file's first plus the position."""
    starts = F.array(*(F.lit(p.file.row_id_start).cast("bigint") for p in request.pieces))
    first = F.element_at(starts, (F.col(FILE) + 1).cast("int"))
    return F.coalesce(F.col(STORED_ROW_ID), first + F.col(POSITION))
