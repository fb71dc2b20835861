"""What ALTER TABLE does to a table, one class per action; and what a column or a partition is declared as."""

from __future__ import annotations

from dataclasses import dataclass

from trickle.errors import QueryError
from trickle.sql.names import Name, distinct

TRANSFORMS = ("identity", "year", "month", "day", "hour")


@dataclass(frozen=True)
class ColumnDef:
    name: str
    type: str
    nullable: bool = True
    default: str | None = None


@dataclass(frozen=True)
class PartitionField:
    column: str
    transform: str = "identity"

    def __post_init__(self) -> None:
        if self.transform not in TRANSFORMS:
            raise QueryError(
                f'partition transform "{self.transform}" is not supported',
                hint=f"use one of {', '.join(TRANSFORMS)}",
            )


@dataclass(frozen=True)
class AddColumn:
    column: ColumnDef
    if_not_exists: bool = False


@dataclass(frozen=True)
class DropColumn:
    column: str
    if_exists: bool = False


@dataclass(frozen=True)
class RenameColumn:
    column: str
    to: str


@dataclass(frozen=True)
class WidenColumn:
    column: str
    type: str


@dataclass(frozen=True)
class SetDefault:
    column: str
    default: str


@dataclass(frozen=True)
class DropDefault:
    column: str


@dataclass(frozen=True)
class SetNotNull:
    column: str


@dataclass(frozen=True)
class DropNotNull:
    column: str


@dataclass(frozen=True)
class RenameTable:
    to: Name


@dataclass(frozen=True)
class SetPartition:
    """No fields: the table is partitioned no longer."""

    fields: tuple[PartitionField, ...]


@dataclass(frozen=True)
class SetCluster:
    """No columns: the table is clustered no longer."""

    columns: tuple[str, ...]


@dataclass(frozen=True)
class PrimaryKey:
    """No two rows agree in these columns, and none has a NULL there; without a name it gets one."""

    columns: tuple[str, ...]
    name: str = ""
    rely: bool = False

    def __post_init__(self) -> None:
        distinct(self.columns, "primary key: column")


@dataclass(frozen=True)
class ForeignKey:
    """Where these columns are not NULL, the other table has a row with their values; without `references`, its key."""

    columns: tuple[str, ...]
    table: Name
    references: tuple[str, ...] = ()
    rely: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        distinct(self.columns, "foreign key: column")
        if self.references and len(self.references) != len(self.columns):
            raise QueryError(f'foreign key to "{self.table.label}" pairs unequal numbers of columns')


@dataclass(frozen=True)
class AddKey:
    key: PrimaryKey | ForeignKey


@dataclass(frozen=True)
class DropPrimaryKey:
    pass


@dataclass(frozen=True)
class DropConstraint:
    name: str
    if_exists: bool = False


Alteration = (
    AddColumn
    | DropColumn
    | RenameColumn
    | WidenColumn
    | SetDefault
    | DropDefault
    | SetNotNull
    | DropNotNull
    | RenameTable
    | SetPartition
    | SetCluster
    | AddKey
    | DropPrimaryKey
    | DropConstraint
)
