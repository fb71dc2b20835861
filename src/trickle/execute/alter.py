"""ALTER TABLE, one function per alteration: each turns a table's definition into the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

from pyspark.sql import functions as F

from ..errors import AlreadyExists, ConstraintViolated, QueryError
from ..lake.ddl import parse_ddl
from ..lake.model import Column, Table
from ..lake.text import parse as parse_text
from ..lake.text import render
from ..lake.types import from_spark, to_spark, widens
from ..sql.statement import (
    AddColumn,
    AddKey,
    AlterTable,
    DropColumn,
    DropConstraint,
    DropDefault,
    DropNotNull,
    DropPrimaryKey,
    Name,
    RenameColumn,
    RenameTable,
    SetCluster,
    SetDefault,
    SetNotNull,
    SetPartition,
    WidenColumn,
    quote_spark,
)
from . import keys
from .binding import Binding
from .columns import require_column
from .ddl import new_column, partition_keys, sort_keys
from .defaults import read_default
from .transaction import Transaction


def alter_table(transaction: Transaction, binding: Binding, statement: AlterTable) -> int:
    found = transaction.find_table(statement.name)
    if found is None and statement.if_exists:
        return 0
    table = transaction.table(statement.name)
    for action in statement.actions:
        part = transaction.draft.of(table)
        part.table = _ACTIONS[type(action)](_Alteration(transaction, binding, part.table), action)
    return 0


class _Alteration:
    def __init__(self, transaction: Transaction, binding: Binding, table: Table) -> None:
        self.transaction, self.binding, self.table = transaction, binding, table

    def with_column(self, old: Column, new: Column) -> Table:
        return replace(self.table, columns=tuple(new if c is old else c for c in self.table.columns))

    def has_rows(self) -> bool:
        return self.transaction.most_rows(self.table) > 0 or not self.transaction.rows(self.table).isEmpty()

    def ids(self) -> count[int]:
        highest = max(c.id for column in self.table.columns for c in column.walk())
        if self.table.id >= 0:
            with self.transaction.lake.reading() as connection:
                stored = self.transaction.definitions.next_column_id(connection, self.table.id)
            highest = max(highest, stored - 1)
        return count(highest + 1)


def _add_column(it: _Alteration, action: AddColumn) -> Table:
    definition = action.column
    if it.table.column(definition.name) is not None:
        if action.if_not_exists:
            return it.table
        raise AlreadyExists(
            f'table "{it.table.label}" has a column "{definition.name}" already', hint="choose another name."
        )
    column = new_column(it.binding, definition, it.ids(), existing_rows=True)
    if not column.nullable and column.initial_default is None and it.has_rows():
        raise ConstraintViolated(
            f'column "{column.name}" cannot be NOT NULL: table "{it.table.label}" has rows already',
            hint="give it a DEFAULT, or allow NULL.",
        )
    return replace(it.table, columns=(*it.table.columns, replace(column, since=it.transaction.base.id + 1)))


def _drop_column(it: _Alteration, action: DropColumn) -> Table:
    if it.table.column(action.column) is None and action.if_exists:
        return it.table
    column = require_column(it.table, action.column)
    if len(it.table.columns) == 1:
        raise QueryError(f'"{column.name}" is the only column of table "{it.table.label}"', hint="drop the table.")
    _refuse_used(replace(it.table, foreign_keys=keys.standing(it.transaction, it.table)), column)
    return replace(it.table, columns=tuple(c for c in it.table.columns if c is not column))


def _refuse_used(table: Table, column: Column) -> None:
    uses = {
        "partition": any(k.column_id == column.id for k in table.partitioned_by),
        "cluster": any(k.expression.strip('"').casefold() == column.name.casefold() for k in table.clustered_by),
        "primary": column.id in table.primary_key,
        "foreign": any(column.id in k.columns for k in table.foreign_keys),
    }
    for use, is_so in uses.items():
        if is_so:
            raise QueryError(
                f'column "{column.name}" is a {use} key of table "{table.label}"', hint=f"change the {use} key first."
            )


def _rename_column(it: _Alteration, action: RenameColumn) -> Table:
    column = require_column(it.table, action.column)
    taken = it.table.column(action.to)
    if taken is not None and taken is not column:
        raise AlreadyExists(f'table "{it.table.label}" has a column "{action.to}" already', hint="choose another name.")
    renamed = it.with_column(column, replace(column, name=action.to))
    sorted_by = tuple(
        replace(k, expression='"' + action.to.replace('"', '""') + '"')
        if k.expression.strip('"').casefold() == column.name.casefold()
        else k
        for k in it.table.clustered_by
    )
    return replace(renamed, clustered_by=sorted_by)


def _widen_column(it: _Alteration, action: WidenColumn) -> Table:
    column = require_column(it.table, action.column)
    wanted = from_spark(column.name, parse_ddl(action.type), count(1))
    if wanted.type == column.type and not column.children:
        return it.table
    if column.children or not widens(column, wanted):
        raise QueryError(
            f'column "{column.name}" cannot become {action.type}',
            detail=f"its type is {to_spark(column).simpleString()}; only widening keeps every value.",
            hint="add a new column and fill it with UPDATE.",
        )
    widened = replace(
        column,
        type=wanted.type,
        initial_default=_retyped(column.initial_default, column, wanted),
        default=_retyped(column.default, column, wanted) if column.default_kind == "literal" else column.default,
    )
    return it.with_column(column, widened)


def _retyped(text: str | None, old: Column, new: Column) -> str | None:
    """A default's text under the wider type."""
    if text is None:
        return None
    value = parse_text(text, old)
    if new.type.startswith("float"):
        value = float(value)
    return render(value, new)


def _set_default(it: _Alteration, action: SetDefault) -> Table:
    column = require_column(it.table, action.column)
    kind, text = read_default(it.binding, column, action.default)
    return it.with_column(column, replace(column, default=text, default_kind=kind))


def _drop_default(it: _Alteration, action: DropDefault) -> Table:
    column = require_column(it.table, action.column)
    return it.with_column(column, replace(column, default=None, default_kind="literal"))


def _set_not_null(it: _Alteration, action: SetNotNull) -> Table:
    column = require_column(it.table, action.column)
    rows = it.transaction.rows(it.table)
    if not rows.where(F.col(quote_spark(column.name)).isNull()).isEmpty():
        raise ConstraintViolated(
            f'column "{column.name}" of table "{it.table.label}" holds NULLs', hint="fill them with UPDATE first."
        )
    return it.with_column(column, replace(column, nullable=False))


def _drop_not_null(it: _Alteration, action: DropNotNull) -> Table:
    column = require_column(it.table, action.column)
    return it.with_column(column, replace(column, nullable=True))


def _rename_table(it: _Alteration, action: RenameTable) -> Table:
    new = action.to
    if new.schema is not None and new.schema.casefold() != it.table.schema.casefold():
        raise QueryError("a table cannot move to another schema", hint="CREATE TABLE … AS SELECT there.")
    if it.transaction.find_table(Name(it.table.schema, new.name)) or it.transaction.find_view(
        Name(it.table.schema, new.name)
    ):
        raise AlreadyExists(f'"{new.name}" exists already', hint="choose another name.")
    return replace(it.table, name=new.name)


def _set_partition(it: _Alteration, action: SetPartition) -> Table:
    return replace(it.table, partitioned_by=partition_keys(it.table, action.fields), partition_id=None)


def _set_cluster(it: _Alteration, action: SetCluster) -> Table:
    return replace(it.table, clustered_by=sort_keys(it.table, action.columns))


def _add_key(it: _Alteration, action: AddKey) -> Table:
    return keys.with_key(it.transaction, it.table, action.key)


def _drop_primary_key(it: _Alteration, action: DropPrimaryKey) -> Table:
    return replace(it.table, key=None)


def _drop_constraint(it: _Alteration, action: DropConstraint) -> Table:
    return keys.without_constraint(it.table, action)


_ACTIONS: dict[type, Callable[[_Alteration, Any], Table]] = {
    AddColumn: _add_column,
    AddKey: _add_key,
    DropColumn: _drop_column,
    DropConstraint: _drop_constraint,
    DropDefault: _drop_default,
    DropNotNull: _drop_not_null,
    DropPrimaryKey: _drop_primary_key,
    RenameColumn: _rename_column,
    RenameTable: _rename_table,
    SetCluster: _set_cluster,
    SetDefault: _set_default,
    SetNotNull: _set_not_null,
    SetPartition: _set_partition,
    WidenColumn: _widen_column,
}
