"""Statements as values: one frozen class each, whose fields are its grammar.

Queries and expressions stay text, cut from what the user wrote: Spark has the last word on them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from trickle.errors import NotFound, QueryError
from trickle.sql.alteration import (
    TRANSFORMS,
    AddColumn,
    AddKey,
    Alteration,
    ColumnDef,
    DropColumn,
    DropConstraint,
    DropDefault,
    DropNotNull,
    DropPrimaryKey,
    ForeignKey,
    PartitionField,
    PrimaryKey,
    RenameColumn,
    RenameTable,
    SetCluster,
    SetDefault,
    SetNotNull,
    SetPartition,
    WidenColumn,
)
from trickle.sql.function_statement import CreateFunction, DropFunction
from trickle.sql.names import Name, distinct, quote_spark
from trickle.sql.stream_statement import (
    AlterStreamTable,
    Call,
    CreateStreamTable,
    DropStreamTable,
    ExplainStreamTable,
    FunctionCall,
    Options,
    RefreshStreamTable,
    Value,
)

__all__ = [
    "TRANSFORMS",
    "Action",
    "AddColumn",
    "AddKey",
    "AlterStreamTable",
    "AlterTable",
    "Alteration",
    "Assignment",
    "Begin",
    "Call",
    "ColumnDef",
    "Commit",
    "CreateFunction",
    "CreateSchema",
    "CreateStreamTable",
    "CreateTable",
    "CreateView",
    "Delete",
    "Describe",
    "DropColumn",
    "DropConstraint",
    "DropDefault",
    "DropFunction",
    "DropNotNull",
    "DropPrimaryKey",
    "DropSchema",
    "DropStreamTable",
    "DropTable",
    "DropView",
    "ExplainStreamTable",
    "ForeignKey",
    "FunctionCall",
    "Insert",
    "Match",
    "Merge",
    "MergeClause",
    "Name",
    "Options",
    "PartitionField",
    "PrimaryKey",
    "Query",
    "RefreshStreamTable",
    "RenameColumn",
    "RenameTable",
    "Rollback",
    "SetCluster",
    "SetDefault",
    "SetNotNull",
    "SetPartition",
    "Show",
    "Statement",
    "Truncate",
    "Update",
    "Value",
    "WidenColumn",
    "distinct",
    "quote_spark",
]


@dataclass(frozen=True)
class Query:
    text: str


@dataclass(frozen=True)
class CreateTable:
    name: Name
    columns: tuple[ColumnDef, ...] = ()
    if_not_exists: bool = False
    or_replace: bool = False
    primary_key: PrimaryKey | None = None
    foreign_keys: tuple[ForeignKey, ...] = ()
    partitioned_by: tuple[PartitionField, ...] = ()
    cluster_by: tuple[str, ...] = ()
    as_query: str | None = None

    def __post_init__(self) -> None:
        table = f'table "{self.name.label}"'
        if not self.columns and self.as_query is None:
            raise QueryError(f"{table} has no columns", hint="list its columns, or add AS SELECT ...")
        distinct((c.name for c in self.columns), f"{table}: column")
        if self.columns:
            self._known(self.primary_key.columns if self.primary_key else (), "primary key")
            self._known((p.column for p in self.partitioned_by), "PARTITIONED BY")
            self._known(self.cluster_by, "CLUSTER BY")
            self._known((c for key in self.foreign_keys for c in key.columns), "foreign key")

    def _known(self, names: Iterable[str], clause: str) -> None:
        columns = {column.name.casefold() for column in self.columns}
        for name in names:
            if name.casefold() not in columns:
                raise NotFound(f'{clause} of table "{self.name.label}" names a column it does not have: "{name}"')


@dataclass(frozen=True)
class AlterTable:
    name: Name
    actions: tuple[Alteration, ...]
    if_exists: bool = False


@dataclass(frozen=True)
class DropTable:
    name: Name
    if_exists: bool = False
    cascade: bool = False


@dataclass(frozen=True)
class CreateSchema:
    name: str
    if_not_exists: bool = False


@dataclass(frozen=True)
class DropSchema:
    name: str
    if_exists: bool = False
    cascade: bool = False


@dataclass(frozen=True)
class CreateView:
    name: Name
    query: str
    columns: tuple[str, ...] = ()
    or_replace: bool = False
    if_not_exists: bool = False

    def __post_init__(self) -> None:
        distinct(self.columns, f'view "{self.name.label}": column')


@dataclass(frozen=True)
class DropView:
    name: Name
    if_exists: bool = False
    cascade: bool = False


@dataclass(frozen=True)
class Insert:
    name: Name
    source: str
    """A query, VALUES included."""
    columns: tuple[str, ...] | None = None
    overwrite: bool = False
    by_name: bool = False

    def __post_init__(self) -> None:
        distinct(self.columns or (), f'INSERT INTO "{self.name.label}": column')


Assignment = tuple[str, str]
"""A column and the text of the expression it becomes; the text may be DEFAULT."""


@dataclass(frozen=True)
class Update:
    name: Name
    assignments: tuple[Assignment, ...]
    alias: str | None = None
    where: str | None = None

    def __post_init__(self) -> None:
        distinct((column for column, _ in self.assignments), f'UPDATE "{self.name.label}": column')


@dataclass(frozen=True)
class Delete:
    name: Name
    alias: str | None = None
    where: str | None = None


Match = Literal["matched", "not_matched", "not_matched_by_source"]
Action = Literal["update", "update_all", "insert", "insert_all", "delete"]
_ALLOWED: dict[str, tuple[str, ...]] = {
    "matched": ("update", "update_all", "delete"),
    "not_matched": ("insert", "insert_all"),
    "not_matched_by_source": ("update", "delete"),
}


@dataclass(frozen=True)
class MergeClause:
    matched: Match
    action: Action
    condition: str | None = None
    assignments: tuple[Assignment, ...] = ()
    columns: tuple[str, ...] = ()
    values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        kind = self.matched.replace("_", " ").upper()
        if self.action not in _ALLOWED[self.matched]:
            raise QueryError(f"WHEN {kind} cannot {self.action.replace('_all', ' *').upper()}")
        if len(self.columns) != len(self.values):
            raise QueryError(f"WHEN {kind}: {len(self.columns)} columns but {len(self.values)} values")
        distinct((column for column, _ in self.assignments), f"WHEN {kind}: column")
        distinct(self.columns, f"WHEN {kind}: column")


@dataclass(frozen=True)
class Merge:
    target: Name
    source: str
    """A table reference or a parenthesised query, without its alias."""
    on: str
    clauses: tuple[MergeClause, ...]
    target_alias: str | None = None
    source_alias: str | None = None
    source_columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Only the last clause of a kind may lack a condition: those after it could never apply."""
        closed: set[str] = set()
        for clause in self.clauses:
            if clause.matched in closed:
                kind = clause.matched.replace("_", " ").upper()
                raise QueryError(
                    f'MERGE INTO "{self.target.label}": a WHEN {kind} clause can never apply',
                    hint="only the last clause of a kind may come without a condition",
                )
            if clause.condition is None:
                closed.add(clause.matched)


@dataclass(frozen=True)
class Truncate:
    name: Name


@dataclass(frozen=True)
class Begin:
    pass


@dataclass(frozen=True)
class Commit:
    pass


@dataclass(frozen=True)
class Rollback:
    pass


@dataclass(frozen=True)
class Show:
    kind: Literal["tables", "views", "schemas", "columns", "stream tables"]
    schema: str | None = None
    table: Name | None = None


@dataclass(frozen=True)
class Describe:
    name: Name


Statement = (
    Query
    | CreateTable
    | AlterTable
    | DropTable
    | CreateSchema
    | DropSchema
    | CreateView
    | DropView
    | Insert
    | Update
    | Delete
    | Merge
    | Truncate
    | Begin
    | Commit
    | Rollback
    | CreateStreamTable
    | AlterStreamTable
    | DropStreamTable
    | RefreshStreamTable
    | ExplainStreamTable
    | CreateFunction
    | DropFunction
    | Call
    | Show
    | Describe
)
