"""MERGE INTO: one join, one decision per row, one pass of changes."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column as SparkColumn
from pyspark.sql import functions as F
from pyspark.sql.types import DataType

from ..errors import QueryError
from ..lake.foreign import translated
from ..lake.model import Column
from ..lake.scan import FILE, POSITION, STORED_ROW_ID
from ..lake.types import to_spark
from ..sql.references import relation_references
from ..sql.statement import Merge, MergeClause, quote_spark
from . import conform, rows
from .binding import Binding
from .transaction import Transaction
from .values import default_text

_PRESENT = "__trickle_present"
UNKNOWN = 1 << 62
_OPERATIONS = {
    "update": rows.UPDATE,
    "update_all": rows.UPDATE,
    "insert": rows.INSERT,
    "insert_all": rows.INSERT,
    "delete": rows.DELETE,
}


def merge(transaction: Transaction, binding: Binding, statement: Merge) -> int:
    """How many rows were changed, removed or added."""
    return _Merge(transaction, binding, statement).run()


class _Merge:
    def __init__(self, transaction: Transaction, binding: Binding, statement: Merge) -> None:
        self.transaction, self.binding, self.statement = transaction, binding, statement
        self.table = transaction.table(statement.target)
        self.about = f'MERGE INTO "{self.table.label}"'
        self.target_alias = statement.target_alias or statement.target.name
        self.located = transaction.located(self.table)
        source = binding.relation(statement.source)
        with translated(self.about):
            text = f"SELECT * FROM {source}"
            if statement.source_columns:
                text += f" AS `s`({', '.join(map(quote_spark, statement.source_columns))})"
            self.source = binding.spark.sql(text)
        self.source_alias = statement.source_alias or _bare(statement.source)
        self.target_view, self.source_view = binding.name(self.located.frame), binding.name(self.source)

    def run(self) -> int:
        conditions = [self.applies(c) for c in self.statement.clauses]
        operation = _case(conditions, [str(_OPERATIONS[c.action]) for c in self.statement.clauses])
        columns = [self.column(c, conditions) for c in self.table.columns]
        target, source = self.target_view, self.source_view
        t, s = quote_spark(self.target_alias), quote_spark(self.source_alias)
        places = [f"{t}.{name} AS {name}" for name in (FILE, POSITION, STORED_ROW_ID)]
        query = (
            f"SELECT * FROM (SELECT {', '.join([f'{operation} AS {rows.OPERATION}', *places, *columns])} "
            f"FROM {target} AS {t} {self.join()} JOIN (SELECT *, true AS {_PRESENT} FROM {source}) AS {s} "
            f"ON {self.binding.expression(self.statement.on)}) WHERE {rows.OPERATION} IS NOT NULL"
        )
        with translated(self.about):
            changed = self.binding.spark.sql(query)
            fitted = changed.select(*([rows.OPERATION, FILE, POSITION, STORED_ROW_ID]), *self.not_null())
        with rows.gathered(self.transaction, fitted, self.most_rows(), self.table) as work:
            return rows.apply(self.transaction, self.table, self.located, work)

    def most_rows(self) -> int:
        """How many rows the join can touch; a source of unknown size is taken to be large."""
        if all(c.matched != "not_matched" for c in self.statement.clauses):
            return self.located.most_rows
        named = [self.transaction.find_table(r.name) for r in relation_references(self.statement.source)]
        if any(t is None for t in named):
            return UNKNOWN
        return self.located.most_rows + sum(self.transaction.most_rows(t) for t in named if t is not None)

    def join(self) -> str:
        """Only the sides that some clause speaks of."""
        kinds = {c.matched for c in self.statement.clauses}
        by_source, by_target = "not_matched_by_source" in kinds, "not_matched" in kinds
        if by_source and by_target:
            return "FULL OUTER"
        return "LEFT OUTER" if by_source else "RIGHT OUTER" if by_target else "INNER"

    def applies(self, clause: MergeClause) -> str:
        """When the clause takes a row: by which sides are there, and its own condition."""
        t, s = quote_spark(self.target_alias), quote_spark(self.source_alias)
        there = {
            "matched": f"{t}.{FILE} IS NOT NULL AND {s}.{_PRESENT}",
            "not_matched": f"{t}.{FILE} IS NULL",
            "not_matched_by_source": f"{s}.{_PRESENT} IS NULL",
        }[clause.matched]
        if clause.condition is None:
            return there
        return f"{there} AND ({self.binding.expression(clause.condition)})"

    def column(self, column: Column, conditions: list[str]) -> str:
        """The column's new value: by the first clause that applies."""
        values = [self.value(column, clause) for clause in self.statement.clauses]
        type = to_spark(column, self.table.label)
        return f"{_case(conditions, [_cast(v, type) for v in values])} AS {quote_spark(column.name)}"

    def value(self, column: Column, clause: MergeClause) -> str:
        own = f"{quote_spark(self.target_alias)}.{quote_spark(column.name)}"
        if clause.action == "delete":
            return "NULL"
        given = self.given(clause)
        if column.name.casefold() in given:
            text = given[column.name.casefold()]
            if text.strip().upper() == "DEFAULT":
                return default_text(column)
            self.check(column, text)
            return text
        return default_text(column) if clause.action.startswith("insert") else own

    def given(self, clause: MergeClause) -> dict[str, str]:
        """Column → expression text, as the clause says."""
        if clause.action.endswith("_all"):
            s = quote_spark(self.source_alias)
            return {n.casefold(): f"{s}.{quote_spark(n)}" for n in self._shared_names()}
        pairs = clause.assignments or tuple(zip(clause.columns, clause.values, strict=True))
        found = {}
        for name, text in pairs:
            if self.table.column(name) is None:
                raise QueryError(
                    f'table "{self.table.label}" has no column "{name}"',
                    hint=f"its columns are {', '.join(c.name for c in self.table.columns)}.",
                )
            found[name.casefold()] = self.binding.expression(text)
        return found

    def _shared_names(self) -> Iterator[str]:
        names = {n.casefold(): n for n in self.source.columns}
        for column in self.table.columns:
            if column.name.casefold() not in names:
                raise QueryError(
                    f'{self.about}: the source has no column "{column.name}"',
                    hint="* takes every column of the target from the source; list the columns instead.",
                )
            yield names[column.name.casefold()]

    def check(self, column: Column, text: str) -> None:
        """Refuse types that SQL does not assign, before anything runs."""
        target, source = self.target_view, self.source_view
        t, s = quote_spark(self.target_alias), quote_spark(self.source_alias)
        with translated(self.about):
            field = self.binding.spark.sql(
                f"SELECT {text} AS v FROM {target} AS {t} CROSS JOIN {source} AS {s}"
            ).schema.fields[0]
        conform.check_storable(self.table, column, field.dataType)

    def not_null(self) -> list[SparkColumn]:
        found: list[SparkColumn] = []
        for column in self.table.columns:
            value = F.col(quote_spark(column.name))
            if not column.nullable:
                checked = conform.not_null(self.table, column, value)
                value = F.when(F.col(rows.OPERATION) != rows.DELETE, checked)
            found.append(value.alias(column.name))
        return found


def _case(conditions: list[str], values: list[str]) -> str:
    branches = " ".join(f"WHEN {c} THEN {v}" for c, v in zip(conditions, values, strict=True))
    return f"CASE {branches} END"


def _cast(value: str, type: DataType) -> str:
    return f"CAST({value} AS {type.simpleString()})"


def _bare(source: str) -> str:
    """The name a source without alias goes by: the last part of its own."""
    found = relation_references(source)
    return found[0].name.name if len(found) == 1 and not source.lstrip().startswith("(") else "source"
