"""A table's rows laid out by key, so that looking up a key reads few files and few row groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from ...errors import NotFound, QueryError
from ...records import Record
from ..draft import Draft
from ..model import Table
from .moving import Moving, exchange, files_for
from .targets import TableName, files, tables

if TYPE_CHECKING:
    from ..lake import Lake


@dataclass(frozen=True)
class Clustered(Record):
    table: str
    by: tuple[str, ...]
    files_before: int
    files_after: int
    snapshot: int


def cluster(lake: Lake, name: TableName, by: list[str] | None) -> Iterator[Clustered]:
    """Rewrite all files sorted by the table's cluster keys, or by `by`."""
    head, (table,) = tables(lake, name)
    keys = _keys(table, by)
    old = files(lake, table, head)
    if not old:
        return
    columns = [F.col("`" + k.replace("`", "``") + "`") for k in keys]
    wanted = files_for(lake, old)
    rows = Moving(lake, table, tuple(old), head).rows()
    laid = rows.repartitionByRange(wanted, *columns).sortWithinPartitions(*columns)
    new = lake.writer(table).write_spark(laid, with_row_ids=True)
    draft = Draft(head, message="cluster files")
    exchange(draft, table, old, new)
    snapshot = lake.commit(draft)
    yield Clustered(table.label, tuple(keys), len(old), len(new), snapshot)


def _keys(table: Table, by: list[str] | None) -> list[str]:
    wanted = by if by is not None else [k.expression.strip('"') for k in table.clustered_by]
    if not wanted:
        raise QueryError(
            f'table "{table.label}" has no cluster keys', hint="pass by=[…], or ALTER TABLE … CLUSTER BY (…)."
        )
    for key in wanted:
        if table.column(key) is None:
            known = ", ".join(c.name for c in table.columns)
            raise NotFound(f'table "{table.label}" has no column "{key}"', hint=f"its columns are {known}.")
    return wanted
