"""The law: before + delta == after, for a query and every step of a history."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trickle.delta import RULES, Rule, consolidate, differentiate
from trickle.plan import WEIGHT, Node, Project, Version, before, keep
from trickle.sql.lower import Query, lower
from trickle.sql.render import render
from trickle.testing.oracle.engine import Engine
from trickle.testing.oracle.history import SCHEMAS, TABLES, Row, Rows, Step

Bag = Counter[Row]


@dataclass(frozen=True)
class Mismatch:
    """A step where the law does not hold."""

    query: str
    step: Step
    expected: Bag
    got: Bag
    sql: str

    def __str__(self) -> str:
        missing, surplus = self.expected - self.got, self.got - self.expected
        return (
            f"{self.query}\nchanges: {self.step.changes}\nbefore: {self.step.before}\n"
            f"missing: {dict(missing)}\nsurplus: {dict(surplus)}\ndelta: {self.sql}"
        )


class World:
    """A history, loaded into an engine, of which queries can be asked."""

    def __init__(self, engine: Engine, history: Sequence[Step]) -> None:
        self.engine = engine
        self.history = history
        engine.load(history)

    def check(self, text: str, rules: Mapping[type[Node], Rule] = RULES, prune: bool = True) -> Mismatch | None:
        """The first step at which the query's delta is wrong."""
        return self.check_query(lower(text, SCHEMAS), text, rules, prune)

    def check_query(
        self, query: Query, text: str, rules: Mapping[type[Node], Rule] = RULES, prune: bool = True
    ) -> Mismatch | None:
        old_sql = self.sql(before(query.plan), query)
        new_sql = self.sql(query.plan, query)
        known: Bag | None = None
        deltas: dict[frozenset[str], str] = {}
        for n, step in enumerate(self.history):
            old = self.bag(old_sql, n) if known is None else known
            new = self.bag(new_sql, n)
            unchanged = step.unchanged & query.tables if prune else frozenset()
            if unchanged not in deltas:
                deltas[unchanged] = self.delta_sql(query, unchanged, rules)
            sql = deltas[unchanged]
            got = added(old, self.engine.rows(sql, n))
            if got != new:
                return Mismatch(text, step, new, got, sql)
            known = new
        return None

    def check_meaning(self, text: str, every: int = 8) -> Mismatch | None:
        """The first step at which the plan answers something else than the engine answers to the text itself."""
        query = lower(text, SCHEMAS)
        mine, written = self.sql(query.plan, query), self.as_written(text)
        for n in range(0, len(self.history), every):
            expected, got = self.bag(written, n), self.bag(mine, n)
            if expected != got:
                return Mismatch(text, self.history[n], expected, got, mine)
        return None

    def as_written(self, text: str) -> str:
        """The query over the tables as they are after the step, its plan never seen."""
        named = "|".join(TABLES)
        return re.sub(
            rf"\b(FROM|JOIN) ({named})\b",
            lambda found: f"{found[1]} {self.engine.relation(found[2], Version.AFTER)}",
            text,
        )

    def sql(self, plan: Node, query: Query) -> str:
        return render(plan, self.engine.relation, query.labels)

    def delta_sql(self, query: Query, unchanged: frozenset[str], rules: Mapping[type[Node], Rule]) -> str:
        delta = consolidate(differentiate(query.plan, unchanged, rules))
        ordered = (*query.plan.names, WEIGHT)
        labels = tuple(f"c{n}" for n in range(len(query.labels)))
        assert set(delta.names) == set(ordered)
        return render(_in_order(delta, ordered), self.engine.relation, (*labels, WEIGHT))

    def bag(self, sql: str, step: int) -> Bag:
        return Counter(self.engine.rows(sql, step))


def added(bag: Bag, delta: Rows) -> Bag:
    """bag + delta; a count below zero stays, so that it is seen."""
    total = Counter(bag)
    for row, weight in ((row[:-1], row[-1]) for row in delta):
        total[row] += int(str(weight))
    return Counter({row: n for row, n in total.items() if n})


def _in_order(plan: Node, names: Sequence[str]) -> Node:
    columns = {c.name: c for c in plan.columns}
    return Project(plan, keep([columns[n] for n in names]))
