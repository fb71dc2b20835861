"""Spec files of queries: what they say, and a bench of DuckDB that judges the rules by them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import sqlglot

from trickle.delta import consolidate, differentiate
from trickle.delta.simplify import simplify
from trickle.plan import WEIGHT, Version
from trickle.sql.dialects import DIALECTS
from trickle.sql.lower import lower
from trickle.sql.lower.query import Query
from trickle.sql.render import render
from trickle.testing.oracle.engine import judge

Rows = Counter[tuple[Any, ...]]
Schemas = dict[str, list[tuple[str, str]]]
_STEP = "STEP "
_POSTGRES = " (postgres)"


@dataclass(frozen=True)
class Step:
    """Statements that happen between two refreshes."""

    name: str
    statements: tuple[str, ...]


@dataclass(frozen=True)
class Story:
    """Tables and what happens to them."""

    setup: tuple[str, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Spec:
    """A query whose answer is to be kept."""

    group: str
    name: str
    query: str
    dialect: str = "spark"
    oracle: str = ""
    """The query in DuckDB's words, where translation does not find them."""

    @property
    def id(self) -> str:
        return f"{self.group}: {self.name}"

    @property
    def for_duckdb(self) -> str:
        return self.oracle or sqlglot.transpile(self.query, read=DIALECTS[self.dialect], write="duckdb")[0]


@dataclass(frozen=True)
class Delta:
    """A change as two multisets."""

    gained: Rows
    lost: Rows


def read_story(path: Path) -> Story:
    (_, setup), *steps = _blocks(path)
    return Story(_statements(setup), tuple(Step(n.removeprefix(_STEP), _statements(body)) for n, body in steps))


def read_specs(path: Path) -> list[Spec]:
    found = []
    for name, body in _blocks(path):
        query, *others = _statements(body)
        oracle = next((o.removeprefix("DUCKDB ") for o in others), "")
        dialect = "postgres" if name.endswith(_POSTGRES) else "spark"
        found.append(Spec(path.stem, name.removesuffix(_POSTGRES), query, dialect, oracle))
    return found


def _blocks(path: Path) -> list[tuple[str, str]]:
    blocks = re.split(r"^-- ", path.read_text(), flags=re.MULTILINE)[1:]
    return [(name.strip(), body) for name, _, body in (block.partition("\n") for block in blocks)]


def _statements(body: str) -> tuple[str, ...]:
    return tuple(s.strip() for s in body.split(";\n") if s.strip().rstrip(";")) if body.strip() else ()


def schemas_of(connection: Any) -> Schemas:
    """The tables of a DuckDB database, with Spark's names for the types."""
    rows = connection.execute(
        "SELECT table_name, column_name, data_type FROM duckdb_columns() "
        "WHERE NOT internal AND schema_name = 'main' ORDER BY table_name, column_index"
    )
    found: Schemas = {}
    for table, column, type in rows.fetchall():
        found.setdefault(table, []).append((column, type.replace("VARCHAR", "STRING").replace("INTEGER", "INT")))
    return found


def translated(sql: str) -> str:
    """What a plan says, in DuckDB's words."""
    return sqlglot.transpile(sql, read="spark", write="duckdb")[0]


class Bench:
    """A story played once in DuckDB: every table after every step, and the changes in between."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self._connection: Any = judge()

    def __enter__(self) -> Self:
        self._run(self.story.setup)
        self._keep(0)
        for number, step in enumerate(self.story.steps, start=1):
            self._run(step.statements)
            self._keep(number)
            for table in self.schemas:
                self._connection.execute(_feed(table, number))
        return self

    def __exit__(self, *error: object) -> None:
        self._connection.close()

    @cached_property
    def schemas(self) -> Schemas:
        return schemas_of(self._connection)

    def plan(self, spec: Spec) -> Query:
        return lower(spec.query, self.schemas, dialect=spec.dialect)

    def states(self, spec: Spec) -> list[Rows]:
        """What DuckDB answers at the beginning and after each step."""
        found = []
        for number in range(len(self.story.steps) + 1):
            self._connection.execute(f"USE s{number}")
            found.append(self._rows(spec.for_duckdb))
        self._connection.execute("USE main")
        return found

    def meaning(self, spec: Spec, number: int) -> Rows:
        """What the plan answers after a step."""
        query = self.plan(spec)
        names = ", ".join(f'"{name}"' for name in query.plan.names)
        return self._rows(f"SELECT {names} FROM ({translated(render(query.plan, _at(number)))})")

    def deltas(self, spec: Spec) -> Iterable[Delta]:
        query = self.plan(spec)
        change = consolidate(differentiate(simplify(query.plan)))
        names = ", ".join(f'"{name}"' for name in (WEIGHT, *query.plan.names))
        for number in range(1, len(self.story.steps) + 1):
            sql = translated(render(change, _at(number)))
            rows = self._connection.execute(f"SELECT {names} FROM ({sql})").fetchall()
            gained, lost = (Counter({tuple(r[1:]): sign * r[0] for r in rows if r[0] * sign > 0}) for sign in (1, -1))
            yield Delta(gained, lost)

    def _rows(self, sql: str) -> Rows:
        return Counter(_plain(row) for row in self._connection.execute(sql).fetchall())

    def _run(self, statements: Iterable[str]) -> None:
        for statement in statements:
            self._connection.execute(statement.replace(" STRING", " VARCHAR"))

    def _keep(self, number: int) -> None:
        self._connection.execute(f"CREATE SCHEMA s{number}")
        for table in self.schemas:
            self._connection.execute(f"CREATE TABLE s{number}.{table} AS FROM main.{table}")


def _plain(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(str(value) if isinstance(value, list | dict) else value for value in row)


def _at(number: int) -> Any:
    def relation(table: str, version: Version) -> str:
        if version is Version.CHANGES:
            return f"s{number}.{table}_changes"
        return f"s{number if version is Version.AFTER else number - 1}.{table}"

    return relation


def _feed(table: str, number: int) -> str:
    """The net change as DuckDB itself computes it, one row per copy."""
    old, new = f"s{number - 1}.{table}", f"s{number}.{table}"
    came = f"SELECT *, 1 AS {WEIGHT} FROM (FROM {new} EXCEPT ALL FROM {old})"
    went = f"SELECT *, -1 AS {WEIGHT} FROM (FROM {old} EXCEPT ALL FROM {new})"
    return f"CREATE TABLE s{number}.{table}_changes AS {came} UNION ALL {went}"
