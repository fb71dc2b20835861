"""Small neighbouring files merged into one; every row keeps the snapshot it was born at."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from sqlalchemy import select

from ...records import Record
from .. import pieces
from ..draft import Draft, FileSwap
from ..model import ROW_ID, SNAPSHOT_ID, DataFile, Snapshot, Table
from ..scan import BORN, FILE, POSITION, STORED_ROW_ID, scan
from .rewriting import row_id
from .targets import TableName, by_partition, files, tables

if TYPE_CHECKING:
    from ..lake import Lake


@dataclass(frozen=True)
class Merged(Record):
    table: str
    files_before: int
    files_after: int
    snapshot: int


def merge_files(lake: Lake, name: TableName | None) -> Iterator[Merged]:
    """Merge the small files of the table named, or of all; one commit a table."""
    head, found = tables(lake, name)
    for table in found:
        swaps = [_merged(lake, table, head, *group) for group in _groups(lake, table, head)]
        if swaps:
            snapshot = lake.commit(Draft(head, swaps=swaps, message="merge files"))
            yield Merged(table.label, sum(len(s.old) for s in swaps), len(swaps), snapshot)


def _groups(lake: Lake, table: Table, head: Snapshot) -> Iterator[tuple[int, tuple[str | None, ...], list[DataFile]]]:
    """Runs of two or more small files without deletes, of one partition and one version of the columns."""
    small = lake.settings["maintenance.small_file_mb"] << 20
    target = lake.settings["lake.target_file_mb"] << 20
    whole = [f for f in files(lake, table, head) if f.bytes < small and not f.delete and not f.inlined_deletes]
    edges = _versions(lake, table)
    for values, members in by_partition(lake, table, whole):
        run: list[DataFile] = []
        for file in sorted(members, key=lambda f: (f.begin, f.id)):
            version = _version(edges, file)
            fits = run and _version(edges, run[0]) == version and sum(f.bytes for f in run) + file.bytes <= target
            if run and not fits:
                yield from _worth(edges, values, run)
                run = []
            if version is not None:
                run.append(file)
        yield from _worth(edges, values, run)


def _worth(
    edges: list[int], values: tuple[str | None, ...], run: list[DataFile]
) -> Iterator[tuple[int, tuple[str | None, ...], list[DataFile]]]:
    if len(run) > 1:
        yield max(f.partial_max or f.begin for f in run), values, run


def _versions(lake: Lake, table: Table) -> list[int]:
    """Snapshots at which the table's columns changed, in order."""
    v = lake.catalog.tables["schema_versions"].c
    with lake.reading() as connection:
        return sorted(connection.execute(select(v.begin_snapshot).where(v.table_id == table.id)).scalars())


def _version(edges: list[int], file: DataFile) -> int | None:
    """Which version of the columns the file was written under; None if it spans several."""
    first, last = bisect_right(edges, file.begin), bisect_right(edges, file.partial_max or file.begin)
    return first if first == last else None


def _merged(
    lake: Lake, table: Table, head: Snapshot, newest: int, values: tuple[str | None, ...], old: list[DataFile]
) -> FileSwap:
    """One file with the rows of several, under the columns they were written with."""
    with lake.reading() as connection:
        # A column dropped since must stay readable at old snapshots.
        written = replace(table, columns=lake.definitions.columns_at(connection, newest, table.id))
        request = lake.request(connection, written, pieces.state(old, head.id), [])
    rows = scan(lake.spark, lake.storage, replace(request, addressed=True, with_birth=True), lake.bitmaps)
    rows = rows.withColumn(ROW_ID, row_id(request)).withColumnRenamed(BORN, SNAPSHOT_ID)
    rows = rows.drop(FILE, POSITION, STORED_ROW_ID)
    births = {f.begin for f in old} | {f.partial_max for f in old if f.partial_max is not None}
    plain = replace(written, partitioned_by=(), clustered_by=())
    writer = lake.writer(plain)
    (new,) = writer.write_spark(_one_file(rows), with_row_ids=True, with_births=len(births) > 1)
    return FileSwap(
        written,
        tuple(old),
        replace(
            new,
            begin=min(f.begin for f in old),
            partial_max=max(births) if len(births) > 1 else None,
            partition_id=old[0].partition_id,
            partition_values=values,
        ),
    )


def _one_file(rows: DataFrame) -> DataFrame:
    return rows.coalesce(1).sortWithinPartitions(F.col(ROW_ID))
