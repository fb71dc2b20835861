"""Spec files of queries: what they say, and a bench of DuckDB that judges the rules by them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import sqlglot

from trickle.delta import RULES, Rule, consolidate, differentiate
from trickle.delta.simplify import simplify
from trickle.plan import WEIGHT, Node, Version
from trickle.plan.recursion import settled
from trickle.sql.dialects import FOR_OTHERS, type_to_spark
from trickle.sql.lower import lower
from trickle.sql.lower.query import Query
from trickle.sql.render import render
from trickle.testing.oracle.engine import for_duckdb, judge
from trickle.testing.rounds import Rounds

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
        return self.oracle or sqlglot.transpile(self.query, read=FOR_OTHERS[self.dialect], write="duckdb")[0]


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
        found.setdefault(table, []).append((column, type_to_spark(type, "duckdb")))
    return found


def translated(sql: str) -> str:
    """What a plan says, in DuckDB's words."""
    return for_duckdb(sqlglot.parse_one(sql, read=FOR_OTHERS["spark"]))


class Bench:
    """A story played once in DuckDB: every table after every step, and the changes in between.

    Schema `s3` is what step 3 sees: the tables as they are after it, under their names and as `t_after`, beside
    `t_before` and `t_changes`. So one text serves all steps.
    """

    def __init__(self, story: Story, rules: Mapping[type[Node], Rule] = RULES) -> None:
        self.story = story
        self.rules = rules
        self.connection: Any = judge()
        self._plans: dict[Spec, Query] = {}

    def __enter__(self) -> Self:
        self._run(self.story.setup)
        self._keep(0)
        for number, step in enumerate(self.story.steps, start=1):
            self._run(step.statements)
            self._keep(number)
        return self

    def __exit__(self, *error: object) -> None:
        self.connection.close()

    @cached_property
    def schemas(self) -> Schemas:
        return schemas_of(self.connection)

    def plan(self, spec: Spec) -> Query:
        if spec not in self._plans:
            self._plans[spec] = lower(spec.query, self.schemas, dialect=spec.dialect)
        return self._plans[spec]

    def state(self, spec: Spec, number: int) -> Rows:
        """What DuckDB answers after a step."""
        return self.rows(spec.for_duckdb, number)

    def states(self, spec: Spec) -> list[Rows]:
        """What DuckDB answers at the beginning and after each step."""
        return [self.state(spec, number) for number in range(len(self.story.steps) + 1)]

    def follow(self, spec: Spec, number: int) -> None:
        """The recursions of a query, at hand like tables of a step."""
        unchanged = self.unchanged(number) if self.plan(spec).recursions and number else frozenset()
        rounds = Rounds(self.connection, lambda plan: translated(render(plan, relation, plan.names)))
        self.connection.execute(f"USE s{number}")
        for recursion in self.plan(spec).recursions:
            rounds.follow(recursion, unchanged)
            unchanged = settled([recursion], unchanged)

    def meaning(self, spec: Spec, number: int) -> Rows:
        """What the plan answers after a step."""
        plan = self.plan(spec).plan
        self.follow(spec, number)
        return self.rows(_in_order(plan.names, render(plan, relation)), number)

    def deltas(self, spec: Spec) -> Iterable[Delta]:
        sql = self.delta_sql(spec, self.change(spec))
        for number in range(1, len(self.story.steps) + 1):
            self.follow(spec, number)
            yield self.delta(sql, number)

    def change(self, spec: Spec, unchanged: frozenset[str] = frozenset()) -> Node:
        """The plan of a query's change; tables in `unchanged` are known not to change."""
        unchanged = settled(self.plan(spec).recursions, unchanged)
        return consolidate(differentiate(simplify(self.plan(spec).plan), unchanged, self.rules))

    def delta_sql(self, spec: Spec, change: Node) -> str:
        """A change of a query in DuckDB's words, its weights first."""
        return _in_order((WEIGHT, *self.plan(spec).plan.names), render(change, relation))

    def delta(self, sql: str, number: int) -> Delta:
        """What `delta_sql` says of a step."""
        gained, lost = Counter[tuple[Any, ...]](), Counter[tuple[Any, ...]]()
        for row in self._fetch(sql, number):
            (gained if row[0] > 0 else lost)[_plain(row[1:])] += abs(row[0])
        return Delta(gained, lost)

    def unchanged(self, number: int) -> frozenset[str]:
        """The tables that a step leaves as they are."""
        return frozenset(t for t in self.schemas if not self._fetch(f"FROM {t}_changes LIMIT 1", number))

    def rows(self, sql: str, number: int) -> Rows:
        """DuckDB's answer to a query of its own words."""
        return Counter(_plain(row) for row in self._fetch(sql, number))

    def table(self, name: str, number: int) -> Any:
        """A table of `s3` as an Arrow table."""
        return self.connection.execute(f"FROM s{number}.{name}").to_arrow_table()

    def _fetch(self, sql: str, number: int) -> list[tuple[Any, ...]]:
        self.connection.execute(f"USE s{number}")
        found: list[tuple[Any, ...]] = self.connection.execute(sql).fetchall()
        return found

    def _run(self, statements: Iterable[str]) -> None:
        for statement in statements:
            self.connection.execute(sqlglot.transpile(statement, read=FOR_OTHERS["spark"], write="duckdb")[0])

    def _keep(self, number: int) -> None:
        self.connection.execute(f"CREATE SCHEMA s{number}")
        for table in self.schemas:
            here = f"s{number}.{table}"
            self.connection.execute(f"CREATE TABLE {here} AS FROM main.{table}")
            self.connection.execute(f"CREATE VIEW {here}_after AS FROM {here}")
            if number:
                self.connection.execute(f"CREATE VIEW {here}_before AS FROM s{number - 1}.{table}")
                self.connection.execute(f"CREATE TABLE {here}_changes AS {self.feed(table, number)}")

    def feed(self, table: str, number: int) -> str:
        """The net change as DuckDB itself computes it, one row per copy."""
        old, new = f"s{number - 1}.{table}", f"s{number}.{table}"
        came = f"SELECT *, 1 AS {WEIGHT} FROM (FROM {new} EXCEPT ALL FROM {old})"
        return f"{came} UNION ALL SELECT *, -1 AS {WEIGHT} FROM (FROM {old} EXCEPT ALL FROM {new})"


def relation(table: str, version: Version) -> str:
    """A table as one step sees it."""
    return f"{table}_{version.value}"


def _in_order(names: Iterable[str], sql: str) -> str:
    listed = ", ".join(f'"{name}"' for name in names)
    return f"SELECT {listed} FROM ({translated(sql)})"


def _plain(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(str(value) if isinstance(value, list | dict) else value for value in row)
