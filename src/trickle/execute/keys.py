"""Declared keys: from names to the columns and tables they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..errors import AlreadyExists, NotFound, QueryError
from ..lake import model
from ..lake.model import Column, Table
from ..lake.types import to_spark
from ..sql.statement import CreateTable, DropConstraint, ForeignKey, PrimaryKey
from .columns import require_column
from .transaction import Transaction

_WHOLE = frozenset({"int8", "int16", "int32", "int64"})


def with_keys(transaction: Transaction, table: Table, statement: CreateTable) -> Table:
    """The new table with the keys that its statement declares."""
    declared: list[PrimaryKey | ForeignKey] = [statement.primary_key] if statement.primary_key else []
    for key in (*declared, *statement.foreign_keys):
        table = with_key(transaction, table, key)
    return table


def with_key(transaction: Transaction, table: Table, declared: PrimaryKey | ForeignKey) -> Table:
    """The table with one more key."""
    table = replace(table, foreign_keys=standing(transaction, table))
    if isinstance(declared, PrimaryKey):
        return _with_primary_key(table, declared)
    other = _referenced(transaction, table, declared)
    mine, theirs = _columns(table, declared.columns), _references(other, declared)
    for here, there in zip(mine, theirs, strict=True):
        _require_alike(table, here, other, there)
    name = declared.name or "_".join([table.name, *(c.name for c in mine), "fkey"])
    ids = tuple(c.id for c in mine), tuple(c.id for c in theirs)
    key = model.ForeignKey(ids[0], other.uuid, ids[1], _free(table, name), declared.rely)
    return replace(table, foreign_keys=(*table.foreign_keys, key))


def _with_primary_key(table: Table, declared: PrimaryKey) -> Table:
    if table.key is not None:
        raise AlreadyExists(f'table "{table.label}" has a primary key already', hint="DROP PRIMARY KEY first.")
    ids = tuple(c.id for c in _columns(table, declared.columns))
    name = declared.name or f"{table.name}_pkey"
    return replace(table, key=model.PrimaryKey(ids, _free(table, name), declared.rely))


def without_constraint(table: Table, action: DropConstraint) -> Table:
    """The table without the key of that name."""
    wanted = action.name.casefold()
    if wanted not in map(str.casefold, names(table)) and not action.if_exists:
        known = ", ".join(names(table)) or "none"
        raise NotFound(f'table "{table.label}" has no constraint "{action.name}"', hint=f"it has: {known}.")
    kept = tuple(k for k in table.foreign_keys if k.name.casefold() != wanted)
    has = table.key is not None and table.key.name.casefold() != wanted
    return replace(table, key=table.key if has else None, foreign_keys=kept)


def standing(transaction: Transaction, table: Table) -> tuple[model.ForeignKey, ...]:
    """The foreign keys whose tables are still there."""
    if not table.foreign_keys:
        return ()
    known = {t.uuid for t in transaction.all_tables()} | {table.uuid}
    return tuple(k for k in table.foreign_keys if k.table in known)


def names(table: Table) -> list[str]:
    """The names of a table's keys."""
    return [*([table.key.name] if table.key else []), *(k.name for k in table.foreign_keys)]


def _free(table: Table, name: str) -> str:
    if name.casefold() in map(str.casefold, names(table)):
        raise AlreadyExists(f'table "{table.label}" has a constraint "{name}" already', hint="choose another name.")
    return name


def _referenced(transaction: Transaction, table: Table, declared: ForeignKey) -> Table:
    """The table that is referenced; one that is being created may reference itself."""
    wanted = declared.table.schema or "main", declared.table.name
    if (table.schema.casefold(), table.name.casefold()) == tuple(map(str.casefold, wanted)):
        return table
    return transaction.table(declared.table)


def _references(other: Table, declared: ForeignKey) -> list[Column]:
    if declared.references:
        return _columns(other, declared.references)
    found = [c for id in other.primary_key if (c := other.column_by_id(id)) is not None]
    if len(found) != len(declared.columns):
        raise QueryError(
            f'table "{other.label}" has no primary key of {len(declared.columns)} columns to reference',
            hint="declare one, or name the columns: REFERENCES table (column, …).",
        )
    return found


def _columns(table: Table, wanted: Sequence[str]) -> list[Column]:
    return [require_column(table, name) for name in wanted]


def _require_alike(table: Table, here: Column, other: Table, there: Column) -> None:
    """Values of different types may be equal to more than one value of the other."""
    if (here.type == there.type and not here.children) or {here.type, there.type} <= _WHOLE:
        return
    mine, theirs = to_spark(here).simpleString(), to_spark(there).simpleString()
    raise QueryError(
        f'column "{here.name}" of table "{table.label}" cannot reference "{there.name}" of table "{other.label}"',
        detail=f"their types are {mine} and {theirs}.",
        hint="give both columns the same type.",
    )
