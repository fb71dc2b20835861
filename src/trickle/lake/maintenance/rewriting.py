"""Files with many deleted rows, written anew without them; old snapshots keep the old files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...records import Record
from ..draft import Draft
from ..model import DataFile, Snapshot, Table
from .moving import Moving, exchange, files_for
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
        worn = [f for f in files(lake, table, head) if f.deleted > share * f.records]
        if worn:
            yield rewrite(lake, table, head, worn)


def rewrite(lake: Lake, table: Table, head: Snapshot, worn: list[DataFile]) -> Rewritten:
    """These files without their deleted rows, in files of the target size."""
    draft = Draft(head, message="rewrite files")
    new = Moving(lake, table, tuple(worn), head).written(files_for(lake, worn))
    exchange(draft, table, worn, new)
    return Rewritten(table.label, len(worn), len(new), lake.commit(draft))
