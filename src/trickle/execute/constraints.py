"""Declared keys as facts, and whether the rows agree with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ..lake.foreign import translated
from ..lake.model import ForeignKey, Table
from ..records import Record, Records
from ..sql.statement import Name, quote_spark
from .transaction import Transaction

PRIMARY, FOREIGN = "PRIMARY KEY", "FOREIGN KEY"
FEW = 5
"""Offending keys that are shown."""
_ROWS = "__rows"


@dataclass(frozen=True)
class TableConstraint(Record):
    """One declared key."""

    schema: str
    table: str
    name: str
    kind: str
    """`PRIMARY KEY` or `FOREIGN KEY`."""
    columns: tuple[str, ...]
    referenced_table: str
    """Of a foreign key, else empty."""
    referenced_columns: tuple[str, ...]
    rely: bool
    """Whether refreshes count on it."""


@dataclass(frozen=True)
class KeyCheck(Record):
    """Whether the rows agree with one declared key."""

    schema: str
    table: str
    name: str
    kind: str
    columns: tuple[str, ...]
    rely: bool
    holds: bool
    violations: int
    """Keys that are held by several rows or have a NULL; or that the other table does not have."""
    examples: tuple[str, ...]
    """The first of them, and how many rows have each."""


def table_constraints(transaction: Transaction, name: Name | None = None) -> Records[TableConstraint]:
    """The declared keys of the tables, or of one."""
    return Records(fact for fact, _, _ in _declared(transaction, name))


def check_keys(transaction: Transaction, name: Name | None = None) -> Records[KeyCheck]:
    """Every declared key held against the rows, by Spark."""
    return Records(_check(transaction, *declared) for declared in _declared(transaction, name))


def _declared(transaction: Transaction, name: Name | None) -> Iterator[tuple[TableConstraint, Table, Table | None]]:
    """Each key with its table and the one that it references."""
    known = {t.uuid: t for t in transaction.all_tables()}
    for table in known.values() if name is None else [transaction.table(name)]:
        if table.key is not None:
            columns = _names(table, table.key.columns)
            yield _fact(table, table.key.name, PRIMARY, columns, "", (), table.key.rely), table, None
        for key in table.foreign_keys:
            other = known.get(key.table)
            if other is not None and _stands(other, key):
                columns, there = _names(table, key.columns), _names(other, key.references)
                yield _fact(table, key.name, FOREIGN, columns, other.label, there, key.rely), table, other


def _fact(
    table: Table,
    name: str,
    kind: str,
    columns: tuple[str, ...],
    referenced: str,
    references: tuple[str, ...],
    rely: bool,
) -> TableConstraint:
    return TableConstraint(table.schema, table.name, name, kind, columns, referenced, references, rely)


def _stands(other: Table, key: ForeignKey) -> bool:
    return all(other.column_by_id(id) is not None for id in key.references)


def _names(table: Table, ids: Sequence[int]) -> tuple[str, ...]:
    names = {c.id: c.name for c in table.columns}
    return tuple(names[id] for id in ids)


def _check(transaction: Transaction, fact: TableConstraint, table: Table, other: Table | None) -> KeyCheck:
    with translated(f'constraint "{fact.name}" of table "{table.label}"'):
        found = _groups(transaction.rows(table), fact.columns)
        if other is None:
            bad = found.where((F.col(_ROWS) > 1) | _any_null(fact.columns))
        else:
            bad = _orphans(found, fact, transaction.rows(other))
        few = bad.orderBy(*map(_column, fact.columns)).limit(FEW).collect()
        number = len(few) if len(few) < FEW else bad.count()
    examples = tuple(_example(row) for row in few)
    return KeyCheck(fact.schema, fact.table, fact.name, fact.kind, fact.columns, fact.rely, not few, number, examples)


def _groups(rows: DataFrame, columns: Sequence[str]) -> DataFrame:
    """Each key once, with the number of its rows."""
    return rows.groupBy(*map(_column, columns)).agg(F.count(F.lit(1)).alias(_ROWS))


def _orphans(found: DataFrame, fact: TableConstraint, others: DataFrame) -> DataFrame:
    """Keys without NULLs that the other table does not have."""
    there = [f"__there_{n}" for n in range(len(fact.columns))]
    pairs = zip(fact.referenced_columns, there, strict=True)
    keys = others.select(*(_column(name).alias(to) for name, to in pairs))
    same = [_column(name) == F.col(to) for name, to in zip(fact.columns, there, strict=True)]
    return found.where(~_any_null(fact.columns)).join(keys, same, "left_anti")


def _any_null(columns: Sequence[str]) -> Any:
    first, *others = (_column(name).isNull() for name in columns)
    for other in others:
        first = first | other
    return first


def _column(name: str) -> Any:
    return F.col(quote_spark(name))


def _example(row: Sequence[Any]) -> str:
    *key, rows = row
    values = ", ".join("NULL" if v is None else str(v) for v in key)
    told = f"({values})" if len(key) > 1 else values
    return f"{told}: {rows} row{'s' * (rows != 1)}"
