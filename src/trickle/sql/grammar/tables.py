"""CREATE TABLE: columns, declared keys, partitions, clustering, AS query."""

from __future__ import annotations

from dataclasses import dataclass, field

from trickle.errors import QueryError
from trickle.sql.grammar.cursor import Cursor
from trickle.sql.grammar.keys import constraint, constraint_name, foreign_key, primary_key, sees_constraint
from trickle.sql.grammar.types import type_name
from trickle.sql.statement import (
    TRANSFORMS,
    ColumnDef,
    CreateTable,
    ForeignKey,
    PartitionField,
    PrimaryKey,
    distinct,
)

_AFTER_DEFAULT = (
    "NOT",
    "NULL",
    "PRIMARY",
    "REFERENCES",
    "UNIQUE",
    "CHECK",
    "CONSTRAINT",
    "COMMENT",
    "GENERATED",
)
_UNSUPPORTED = ("UNIQUE", "CHECK", "GENERATED", "COMMENT", "COLLATE", "AUTO_INCREMENT", "IDENTITY")


@dataclass
class Body:
    """What stands between the brackets, filled while reading."""

    columns: list[ColumnDef] = field(default_factory=list)
    primary_key: PrimaryKey | None = None
    foreign_keys: list[ForeignKey] = field(default_factory=list)

    def add(self, cursor: Cursor, key: PrimaryKey | ForeignKey) -> None:
        if isinstance(key, ForeignKey):
            self.foreign_keys.append(key)
        elif self.primary_key is not None:
            raise cursor.error("a table has one primary key", "write PRIMARY KEY (a, b) for a key of two columns")
        else:
            self.primary_key = key


def create_table(cursor: Cursor, or_replace: bool) -> CreateTable:
    """CREATE [OR REPLACE] TABLE [IF NOT EXISTS] name ...; the cursor stands after TABLE."""
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    name = cursor.table_name()
    body = Body()
    if cursor.sees("(") and not cursor.sees_query():
        cursor.listed(lambda c: _element(c, body))
    partitioned_by: tuple[PartitionField, ...] = ()
    cluster_by: tuple[str, ...] = ()
    while not cursor.done() and not cursor.sees("AS") and not cursor.sees_query():
        if cursor.sees_any("PARTITIONED", "PARTITION") and not partitioned_by:
            partitioned_by = partition_clause(cursor)
        elif cursor.sees_any("CLUSTER", "CLUSTERED") and not cluster_by:
            cluster_by = cluster_clause(cursor)
        elif not cursor.accept("USING", "DUCKLAKE"):
            raise _unsupported_clause(cursor)
    as_query = None
    if cursor.accept("AS") or not cursor.done():
        as_query = cursor.query()
    return CreateTable(
        name=name,
        columns=tuple(body.columns),
        if_not_exists=if_not_exists,
        or_replace=or_replace,
        primary_key=body.primary_key,
        foreign_keys=tuple(body.foreign_keys),
        partitioned_by=partitioned_by,
        cluster_by=cluster_by,
        as_query=as_query,
    )


def _unsupported_clause(cursor: Cursor) -> QueryError:
    hint = "tables are kept in the lake; leave the clause out" if cursor.sees_any("USING", "LOCATION", "STORED") else ""
    return cursor.error(f"clause {cursor.word()} is not supported in CREATE TABLE", hint)


def _element(cursor: Cursor, body: Body) -> None:
    """One column, or one table constraint."""
    if sees_constraint(cursor):
        body.add(cursor, constraint(cursor))
    elif cursor.sees("LIKE") and cursor.is_name(cursor.peek(1)) and cursor.peek(2).reads(")"):
        raise cursor.error("LIKE is not supported in CREATE TABLE", "list the columns")
    else:
        body.columns.append(column_def(cursor, body))


def column_def(cursor: Cursor, body: Body | None = None) -> ColumnDef:
    """name type [NOT NULL] [DEFAULT expression] [PRIMARY KEY] [REFERENCES table]; keys go into `body`."""
    name = cursor.name("a column name")
    type = type_name(cursor)
    nullable, default, named = True, None, ""
    while not cursor.done() and not cursor.sees_any(",", ")"):
        if cursor.accept("NOT", "NULL"):
            nullable = False
        elif cursor.accept("NULL"):
            continue
        elif cursor.accept("DEFAULT"):
            default = cursor.expression(*_AFTER_DEFAULT)
        elif cursor.sees("CONSTRAINT"):
            named = constraint_name(cursor)
        elif body is not None and cursor.accept("PRIMARY", "KEY"):
            body.add(cursor, primary_key(cursor, (name,), named))
        elif body is not None and cursor.sees("REFERENCES"):
            body.add(cursor, foreign_key(cursor, (name,), named))
        else:
            raise _unsupported_trait(cursor, name)
    return ColumnDef(name, type, nullable, default)


def _unsupported_trait(cursor: Cursor, column: str) -> QueryError:
    if cursor.sees_any("FIRST", "AFTER"):
        return cursor.error(f'column "{column}": {cursor.word()} is not supported', "new columns come last")
    if cursor.sees_any(*_UNSUPPORTED):
        return cursor.error(f'column "{column}": {cursor.word()} is not supported')
    return cursor.error(f'column "{column}": {cursor.found()} is not understood')


def partition_clause(cursor: Cursor) -> tuple[PartitionField, ...]:
    """PARTITIONED BY (column, year(column), ...)"""
    cursor.accept_any("PARTITIONED", "PARTITION")
    cursor.expect("BY")
    return cursor.listed(_partition_field)


def _partition_field(cursor: Cursor) -> PartitionField:
    name = cursor.name("a column name")
    if not cursor.sees("("):
        return PartitionField(name)
    transform = name.lower().removesuffix("s")
    if transform not in TRANSFORMS:
        raise cursor.error(f'partition transform "{name}" is not supported', f"use one of {', '.join(TRANSFORMS)}")
    cursor.expect("(")
    column = cursor.name("a column name")
    cursor.expect(")")
    return PartitionField(column, transform)


def cluster_clause(cursor: Cursor) -> tuple[str, ...]:
    """CLUSTER BY (column, ...)"""
    cursor.accept_any("CLUSTERED", "CLUSTER")
    cursor.expect("BY")
    columns = cursor.column_names()
    if cursor.sees_any("INTO", "SORTED"):
        raise cursor.error(f"clause {cursor.word()} is not supported", "clustering is by range, without buckets")
    distinct(columns, "CLUSTER BY: column")
    return columns
