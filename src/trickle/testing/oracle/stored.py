"""The law for stored state: however many changes were merged, the stored rows are the query's."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from trickle.delta.state import Storage, initial, maintain, store
from trickle.plan import STORED, WEIGHT, Node, Project, Version, before, keep
from trickle.sql.lower import lower
from trickle.sql.render import quote, render
from trickle.testing.oracle.engine import DuckEngine
from trickle.testing.oracle.history import SCHEMAS, Row, Rows, Step


@dataclass(frozen=True)
class Drift:
    """A step after which the stored rows are not the query's."""

    query: str
    at: int
    step: Step
    expected: Rows
    got: Rows
    sql: str

    def __str__(self) -> str:
        return (
            f"{self.query}\nstep {self.at}\nchanges: {self.step.changes}\nbefore: {self.step.before}\n"
            f"expected: {self.expected}\ngot: {self.got}\ndelta: {self.sql}"
        )


class StoredWorld:
    """A history over which a query's result is stored and maintained step by step."""

    table = STORED
    """Where the rows are stored."""

    def __init__(self, engine: DuckEngine, history: Sequence[Step]) -> None:
        self.engine = engine
        self.history = history
        self._texts: dict[tuple[object, ...], str] = {}
        engine.load(history)

    def check(self, text: str, *, merge: bool = True, appending: bool = False) -> Drift | None:
        """The first step after which the stored rows are wrong; `appending` if the history only gains rows."""
        query = lower(text, SCHEMAS)
        storage = store(query.plan, tuple(f"c{n}" for n in range(len(query.labels))), merge=merge)
        expected_sql = render(query.plan, self.engine.relation, storage.labels)
        self.fill(storage)
        self._texts.clear()
        for n, step in enumerate(self.history):
            sql = self.advance(storage, step.unchanged & query.tables, appending, n)
            expected, got = self.engine.rows(expected_sql, n), self.published(storage)
            if not alike(expected, got):
                return Drift(text, n, step, expected, got, sql)
        return None

    def advance(self, storage: Storage, unchanged: frozenset[str], appending: bool, n: int) -> str:
        """Bring the stored rows from before a step to after it; the SQL that did."""
        sql = self.sql_of((unchanged,), lambda: self.delta_sql(storage, unchanged, appending))
        self.apply(storage, sql, n)
        return sql

    def sql_of(self, key: tuple[object, ...], make: Callable[[], str]) -> str:
        if key not in self._texts:
            self._texts[key] = make()
        return self._texts[key]

    def relation(self, table: str, version: Version) -> str:
        return quote(self.table) if table == STORED else self.engine.relation(table, version)

    def fill(self, storage: Storage) -> None:
        sql = render(before(initial(storage)), self.relation, storage.stored_labels)
        self.engine.store(self.table, sql, 0)

    def delta_sql(self, storage: Storage, unchanged: frozenset[str], appending: bool = False) -> str:
        delta = maintain(storage, unchanged, appending)
        ordered = in_order(delta, [*(c.name for c in storage.columns), WEIGHT])
        return render(ordered, self.relation, (*storage.stored_labels, WEIGHT))

    def apply(self, storage: Storage, sql: str, step: int) -> None:
        columns = [quote(label) for label in storage.stored_labels]
        worst = self.engine.apply(self.table, columns, sql, step)
        if worst is not None and worst < 0:
            raise AssertionError(f"a change deletes what is not stored: {sql}")

    def published(self, storage: Storage) -> Rows:
        columns = ", ".join(quote(label) for label in storage.labels)
        where = f" WHERE {quote(storage.visible_label)}" if storage.visible_label else ""
        return self.engine.rows(f"SELECT {columns} FROM {quote(self.table)}{where}", 0)


def alike(left: Rows, right: Rows) -> bool:
    """Equal as multisets; floating-point numbers to 9 digits."""
    return Counter(map(_rounded, left)) == Counter(map(_rounded, right))


def _rounded(row: Row) -> Row:
    return tuple(_number(value) if isinstance(value, float) else value for value in row)


def _number(value: float) -> object:
    if not math.isfinite(value):
        return repr(value)
    return f"{value + 0.0:.9g}" if abs(value) > 1e-12 else "0"


def in_order(plan: Node, names: Sequence[str]) -> Node:
    columns = {c.name: c for c in plan.columns}
    return Project(plan, keep([columns[n] for n in names]))
