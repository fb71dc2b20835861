"""What the catalog says, as values: schemas, tables, columns, files. No database, no Spark.

An id below zero is provisional: given out inside a transaction, replaced by a real one at commit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

ROW_ID = "_ducklake_internal_row_id"
ROW_ID_FIELD = 2147483540
SNAPSHOT_ID = "_ducklake_internal_snapshot_id"
SNAPSHOT_ID_FIELD = 2147483539
DELETE_PATH_FIELD = 2147483646
DELETE_POS_FIELD = 2147483645
WEIGHT = "__w"


@dataclass(frozen=True)
class Snapshot:
    id: int
    time: datetime
    schema_version: int
    next_catalog_id: int
    next_file_id: int


@dataclass(frozen=True)
class Column:
    """A column, or a field inside one. `type` is DuckLake's word; `list`, `struct` and `map` have children.

    A list has one child `element`, a map two: `key` and `value`.
    """

    id: int
    name: str
    type: str
    nullable: bool = True
    children: tuple[Column, ...] = ()
    initial_default: str | None = None
    """What rows written before the column existed hold (text in DuckLake's form, None for NULL)."""
    default: str | None = None
    """What an INSERT that leaves the column out stores; a literal's text, or an expression."""
    default_kind: str = "literal"
    since: int = 0
    """The snapshot that created the column: older files do not hold it."""

    def walk(self) -> Iterator[Column]:
        """The column and everything inside it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True)
class PartitionKey:
    column_id: int
    transform: str = "identity"


@dataclass(frozen=True)
class SortKey:
    expression: str
    descending: bool = False
    nulls_last: bool = True
    dialect: str = "duckdb"


@dataclass(frozen=True)
class PrimaryKey:
    """Declared, not enforced: no two rows agree in these columns (by id), and none has a NULL there."""

    columns: tuple[int, ...]
    name: str
    rely: bool = False
    """Whether refreshes may count on it."""
    since: int = field(default=0, compare=False)
    """The snapshot that declared it."""


@dataclass(frozen=True)
class ForeignKey:
    """Declared, not enforced: where no column is NULL, the other table (by uuid) has a row with these values."""

    columns: tuple[int, ...]
    table: str
    references: tuple[int, ...]
    name: str
    rely: bool = False
    since: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Table:
    id: int
    uuid: str
    schema_id: int
    schema: str
    name: str
    path: str
    """Where its files live, absolute, ending with a slash."""
    columns: tuple[Column, ...]
    begin: int = 0
    partition_id: int | None = None
    partitioned_by: tuple[PartitionKey, ...] = ()
    clustered_by: tuple[SortKey, ...] = ()
    key: PrimaryKey | None = None
    foreign_keys: tuple[ForeignKey, ...] = ()
    schema_version: int = 0

    @property
    def primary_key(self) -> tuple[int, ...]:
        """Ids of the declared key columns."""
        return self.key.columns if self.key else ()

    @property
    def label(self) -> str:
        return self.name if self.schema == "main" else f"{self.schema}.{self.name}"

    def column(self, name: str) -> Column | None:
        """The column of that name, compared without case as Spark does."""
        wanted = name.casefold()
        return next((c for c in self.columns if c.name.casefold() == wanted), None)

    def column_by_id(self, id: int) -> Column | None:
        return next((c for c in self.columns if c.id == id), None)


@dataclass(frozen=True)
class View:
    id: int
    uuid: str
    schema_id: int
    schema: str
    name: str
    sql: str
    dialect: str = "duckdb"
    column_aliases: tuple[str, ...] = ()


class Move(NamedTuple):
    """Deletes that a file puts into one snapshot, and that another made: between these two, most often one."""

    said: int
    first: int
    last: int


@dataclass(frozen=True)
class DeleteFile:
    """Positions of one data file that are gone; cumulative."""

    id: int
    path: str
    count: int
    bytes: int
    footer_bytes: int
    begin: int
    partial_max: int | None = None
    moves: tuple[Move, ...] = ()


@dataclass(frozen=True)
class ColumnStats:
    """Statistics of one leaf column in one data file; values in DuckLake's text form."""

    column_id: int
    size_bytes: int
    value_count: int
    null_count: int
    min: str | None
    max: str | None
    contains_nan: bool | None = None


@dataclass(frozen=True)
class DataFile:
    id: int
    path: str
    """Absolute path or URI."""
    records: int
    bytes: int
    footer_bytes: int
    row_id_start: int | None
    begin: int
    end: int | None = None
    partial_max: int | None = None
    mapping_id: int | None = None
    partition_id: int | None = None
    partition_values: tuple[str | None, ...] = ()
    delete: DeleteFile | None = None
    inlined_deletes: tuple[int, ...] = ()
    """Positions deleted by rows of `ducklake_inlined_delete_<table>`."""
    stats: tuple[ColumnStats, ...] = field(default=(), compare=False)
    """Only on files about to be committed; statistics of committed files stay in the catalog."""

    @property
    def deleted(self) -> int:
        """How many of its rows are gone."""
        return (self.delete.count if self.delete else 0) + len(self.inlined_deletes)

    @property
    def live(self) -> int:
        return self.records - self.deleted


@dataclass(frozen=True)
class Bound:
    """One conjunct that data files are pruned by: the column lies in [low, high], or is one of `values`.

    Values are plain Python values (int, str, float, Decimal, date, datetime, bytes, bool); who looks rows up by them
    has them sorted. NULL never satisfies
    a bound unless `or_null`.
    """

    column: str
    low: object | None = None
    high: object | None = None
    values: tuple[Any, ...] | None = None
    or_null: bool = False
    spans: tuple[tuple[Any, Any], ...] = ()
    """Where in [low, high] it lies, if more is known."""
