"""Small files merged into one; every row keeps the snapshot it was born at."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlalchemy import select

from ...records import Record
from ..draft import Draft, FileSwap
from ..model import DataFile, Snapshot, Table
from .moving import Moving, exchange
from .targets import TableName, by_partition, files, tables

if TYPE_CHECKING:
    from ..lake import Lake


@dataclass(frozen=True)
class Merged(Record):
    table: str
    files_before: int
    files_after: int
    snapshot: int


@dataclass(frozen=True)
class Run:
    """Small files of one partition that become one."""

    values: tuple[str | None, ...]
    """Of the partition."""
    files: tuple[DataFile, ...]

    @property
    def is_worn(self) -> bool:
        """Of some rows are deleted: those cannot be merged where they stand, for old snapshots still show them."""
        return any(f.deleted for f in self.files)

    @property
    def bytes(self) -> int:
        return sum(f.bytes for f in self.files)


def merge_files(lake: Lake, name: TableName | None) -> Iterator[Merged]:
    """Merge the small files of the table named, or of all; one commit a table."""
    head, found = tables(lake, name)
    for table in found:
        if merged := merge(lake, table, head, runs(lake, table, head)):
            yield merged


def merge(lake: Lake, table: Table, head: Snapshot, chosen: Sequence[Run]) -> Merged | None:
    """These runs, each into one file, in one commit."""
    if not chosen:
        return None
    draft = Draft(head, message="merge files")
    try:
        for run in chosen:
            _stage(lake, draft, table, run)
    except BaseException:
        draft.discard(lake.storage)
        raise
    after = len(draft.written)
    return Merged(table.label, sum(len(r.files) for r in chosen), after, lake.commit(draft))


def _stage(lake: Lake, draft: Draft, table: Table, run: Run) -> None:
    if run.is_worn:
        exchange(draft, table, run.files, Moving(lake, table, run.files, draft.base).written(1))
        return
    swap = _merged(lake, table, draft.base, run)
    draft.swaps.append(swap)
    draft.written.append(swap.new.path)


def runs(lake: Lake, table: Table, head: Snapshot) -> list[Run]:
    """Two or more small files each, of one partition: worn ones together, the others by version of the columns."""
    small = lake.settings["maintenance.small_file_mb"] << 20
    target = lake.settings["lake.target_file_mb"] << 20
    found = [f for f in files(lake, table, head) if f.bytes < small and f.records]
    edges = _versions(lake, table)
    kinds: dict[tuple[tuple[str | None, ...], int | None, int | str], list[DataFile]] = defaultdict(list)
    for values, members in by_partition(lake, table, found):
        for file in sorted(members, key=lambda f: (f.begin, f.id)):
            kind = "worn" if file.deleted else _version(edges, file)
            if kind is not None:
                kinds[values, file.partition_id, kind].append(file)
    return [Run(key[0], run) for key, members in kinds.items() for run in _filled(members, target)]


def _filled(files: Sequence[DataFile], target: int) -> Iterator[tuple[DataFile, ...]]:
    """Runs of more than one file, none larger than the target."""
    run: list[DataFile] = []
    for file in files:
        if run and sum(f.bytes for f in run) + file.bytes > target:
            yield from _worth(run)
            run = []
        run.append(file)
    yield from _worth(run)


def _worth(run: list[DataFile]) -> Iterator[tuple[DataFile, ...]]:
    if len(run) > 1:
        yield tuple(run)


def _versions(lake: Lake, table: Table) -> list[int]:
    """Snapshots at which the table's columns changed, in order."""
    v = lake.catalog.tables["schema_versions"].c
    with lake.reading() as connection:
        return sorted(connection.execute(select(v.begin_snapshot).where(v.table_id == table.id)).scalars())


def _version(edges: list[int], file: DataFile) -> int | None:
    """Which version of the columns the file was written under; None if it spans several."""
    first, last = bisect_right(edges, file.begin), bisect_right(edges, file.partial_max or file.begin)
    return first if first == last else None


def _merged(lake: Lake, table: Table, head: Snapshot, run: Run) -> FileSwap:
    """One file with the rows of several, under the columns they were written with."""
    newest = max(f.partial_max or f.begin for f in run.files)
    with lake.reading() as connection:
        # A column dropped since must stay readable at old snapshots.
        written = replace(table, columns=lake.definitions.columns_at(connection, newest, table.id))
    births = {f.begin for f in run.files} | {f.partial_max for f in run.files if f.partial_max is not None}
    plain = replace(written, partitioned_by=())
    (new,) = Moving(lake, plain, run.files, head, with_births=len(births) > 1).written(1)
    return FileSwap(
        written,
        run.files,
        replace(
            new,
            begin=min(f.begin for f in run.files),
            partial_max=max(births) if len(births) > 1 else None,
            partition_id=run.files[0].partition_id,
            partition_values=run.values,
        ),
    )
