"""Engines that run rendered SQL over one step of a history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import sqlglot

from trickle.plan import WEIGHT, Version, when
from trickle.testing.oracle.history import COLUMNS, TABLES, Row, Rows, Step

Schemas = dict[str, tuple[tuple[str, str], ...]]


_NARROWED = {
    name: sqlglot.parse_one(f"(SELECT * EXCLUDE (step) FROM {name} WHERE step = $step)", dialect="duckdb")
    for name in (f"{table}_{version.value}" for table in TABLES for version in Version)
}


class Engine(Protocol):
    """Something that answers SQL about a history."""

    def load(self, history: Sequence[Step]) -> None: ...

    def relation(self, table: str, version: Version) -> str: ...

    def rows(self, sql: str, step: int) -> Rows: ...


def judge() -> Any:
    """A DuckDB that answers rightly, and knows the words that plans use."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    # wrong answers of DuckDB 1.5.5: see the comment on oracles in docs/reference/delta-rules.md
    connection.execute("SET disabled_optimizers = 'deliminator,join_filter_pushdown'")
    connection.execute("CREATE MACRO raise_error(message) AS error(message)")
    connection.execute("CREATE MACRO rint(x) AS round_even(x, 0)")
    return connection


class DuckEngine:
    """DuckDB in this process: all steps are loaded at once, each statement is prepared once."""

    def __init__(self) -> None:
        self._connection: Any = judge()
        columns = ", ".join(f"{name} {_duck_type(type)}" for name, type in COLUMNS)
        for table in TABLES:
            for version in Version:
                weight = f", {WEIGHT} INT" if version is Version.CHANGES else ""
                self._connection.execute(f"CREATE TABLE {table}_{version.value} ({columns}{weight}, step INT)")
        self._prepared: dict[str, str] = {}
        self._texts: dict[str, str] = {}

    def load(self, history: Sequence[Step]) -> None:
        for table in TABLES:
            for version in Version:
                rows = [(*row, n) for n, step in enumerate(history) for row in step.rows(table, version)]
                self._fill(f"{table}_{version.value}", rows)

    def relation(self, table: str, version: Version) -> str:
        return f"{table}_{version.value}"

    def rows(self, sql: str, step: int) -> Rows:
        if sql not in self._prepared:
            self._prepared[sql] = self._prepare(self.translate(sql))
        result: Rows = self._connection.execute(self._prepared[sql].format(step)).fetchall()
        return result

    def translate(self, sql: str) -> str:
        """Spark's SQL as DuckDB's; every table is narrowed to the step in question."""
        tree = sqlglot.parse_one(sql, dialect="spark")
        for table in list(tree.find_all(sqlglot.exp.Table)):
            if table.name in _NARROWED:
                table.replace(sqlglot.exp.alias_(_NARROWED[table.name], table.alias_or_name, table=True))
        return for_duckdb(tree)

    def store(self, table: str, sql: str, step: int) -> None:
        """Create a table from a query."""
        self._connection.execute(f'CREATE OR REPLACE TEMP TABLE "{table}" AS {self._at(sql, step)}')

    def copy(self, table: str, to: str) -> None:
        self._connection.execute(f'CREATE OR REPLACE TEMP TABLE "{to}" AS FROM "{table}"')

    def difference(self, old: str, new: str, to: str) -> None:
        """The net change from one table to another, one row a copy."""
        came = f'SELECT *, 1 AS {WEIGHT} FROM (FROM "{new}" EXCEPT ALL FROM "{old}")'
        went = f'SELECT *, -1 AS {WEIGHT} FROM (FROM "{old}" EXCEPT ALL FROM "{new}")'
        self._connection.execute(f'CREATE OR REPLACE TEMP TABLE "{to}" AS {came} UNION ALL {went}')

    def arrow(self, sql: str, step: int) -> Any:
        """The rows as an Arrow table."""
        return self._connection.execute(self._at(sql, step)).to_arrow_table()

    def hand_in(self, table: str, rows: Any) -> None:
        """Create a table from an Arrow table."""
        self._connection.execute(f'CREATE OR REPLACE TEMP TABLE "{table}" AS SELECT * FROM rows')

    def replace_rows(self, table: str, gone: Sequence[int], arriving: Any) -> None:
        """Take rows away by their place, and add others."""
        if len(gone):
            listed = ", ".join(map(str, gone))
            self._connection.execute(f'DELETE FROM "{table}" WHERE rowid IN ({listed})')
        if arriving.num_rows:
            self._connection.execute(f'INSERT INTO "{table}" SELECT * FROM arriving')

    def apply(self, table: str, columns: Sequence[str], sql: str, step: int) -> int | None:
        """Apply a delta to a stored table; the smallest number of copies a row is left with."""
        listed = ", ".join(columns).replace("`", '"')
        both = f'SELECT {listed}, 1 AS {WEIGHT} FROM "{table}" UNION ALL ({self._at(sql, step)})'
        net = f"SELECT {listed}, sum({WEIGHT}) AS {WEIGHT} FROM ({both}) GROUP BY {listed}"
        self._connection.execute(f"CREATE OR REPLACE TEMP TABLE net AS {net}")
        self._connection.execute(f'DELETE FROM "{table}"')
        copies = f"SELECT {listed} FROM net, range(CAST({WEIGHT} AS BIGINT)) WHERE {WEIGHT} > 0"
        self._connection.execute(f'INSERT INTO "{table}" {copies}')
        worst: int | None = self._connection.execute(f"SELECT min({WEIGHT}) FROM net").fetchone()[0]
        return worst

    def _at(self, sql: str, step: int) -> str:
        if sql not in self._texts:
            self._texts[sql] = self.translate(sql)
        return self._texts[sql].replace("$step", str(step))

    def _prepare(self, sql: str) -> str:
        """A statement that runs the prepared query, with a place for the step."""
        name = f"q{len(self._prepared)}"
        self._connection.execute(f"PREPARE {name} AS {sql}")
        return f"EXECUTE {name}(step := {{}})" if "$step" in sql else f"EXECUTE {name}"

    def _fill(self, table: str, rows: list[Row]) -> None:
        self._connection.execute(f"DELETE FROM {table}")
        for start in range(0, len(rows), 500):
            part = rows[start : start + 500]
            values = ", ".join(f"({', '.join(_literal(value) for value in row)})" for row in part)
            self._connection.execute(f"INSERT INTO {table} VALUES {values}")


def for_duckdb(tree: sqlglot.exp.Expr) -> str:
    """A query of Spark in DuckDB's words, where sqlglot's own would mean something else too."""
    return tree.transform(_reworded, copy=False).sql(dialect="duckdb", copy=False)


def _reworded(node: sqlglot.exp.Expr) -> sqlglot.exp.Expr:
    """count_if would be a sum, NULL of nothing instead of 0; LATERAL VIEW OUTER would not be OUTER."""
    if isinstance(node, sqlglot.exp.CountIf):
        one = sqlglot.exp.Literal.number(1)
        return sqlglot.exp.Count(this=when(node.this, one), big_int=True)
    if isinstance(node, sqlglot.exp.Select):
        for view in [v for v in node.args.get("laterals") or () if v.args.get("outer")]:
            node.append("joins", _left_join(view))
            view.pop()
    return node


def _left_join(view: sqlglot.exp.Lateral) -> sqlglot.exp.Join:
    (made,) = view.args["alias"].columns
    rows = sqlglot.exp.select(sqlglot.exp.alias_(view.this.copy(), made)).subquery()
    name = sqlglot.exp.TableAlias(this=view.args["alias"].this)
    return sqlglot.exp.Join(this=sqlglot.exp.Lateral(this=rows, alias=name), side="LEFT", on=sqlglot.exp.true())


def _literal(value: object) -> str:
    if value is None:
        return "NULL"
    return f"'{value}'" if isinstance(value, str) else str(value)


def _duck_type(type: str) -> str:
    return "VARCHAR" if type == "STRING" else type
