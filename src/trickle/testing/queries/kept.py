"""The law as a refresh goes: a query's rows are stored, its intermediates beside it, and each step moves them all.

Every part is moved by its own state: groups by what changed in them, first rows by what came, others by their delta.
Parts that a step leaves as they are count as unchanged for those above. After every step the stored rows that a reader
would see are DuckDB's answer to the text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from trickle.delta.cut import cut
from trickle.delta.state import Storage, maintain, store
from trickle.plan import Node, Version, tables, weight
from trickle.plan.recursion import settled
from trickle.refresh.compile import MOST_OPERATORS
from trickle.sql.render import quote, render
from trickle.testing.oracle.engine import DuckEngine
from trickle.testing.oracle.history import Step
from trickle.testing.oracle.stepped import SteppedWorld
from trickle.testing.queries.cases import Case
from trickle.testing.queries.law import Outcome, Verdict, difference, guarded
from trickle.testing.specs import Bench, Rows, translated

_INTERMEDIATE = "kept_"


class BenchEngine(DuckEngine):
    """The steps of a bench, counted from 0, and tables beside them that outlast a step."""

    def __init__(self, bench: Bench) -> None:
        self._connection: Any = bench.connection
        self._texts: dict[str, str] = {}

    def load(self, history: Sequence[Step]) -> None:
        """The bench has played its story."""

    def relation(self, table: str, version: Version) -> str:
        kept = table.startswith(_INTERMEDIATE)
        return quote(table if kept and version is Version.AFTER else f"{table}_{version.value}")

    def is_empty(self, table: str) -> bool:
        return self._connection.execute(f'FROM "{table}" LIMIT 1').fetchone() is None

    def _at(self, sql: str, step: int) -> str:
        self._connection.execute(f"USE s{step + 1}")
        if sql not in self._texts:
            self._texts[sql] = translated(sql)
        return self._texts[sql]


class Part(SteppedWorld):
    """What is stored of one operator, or of the whole query."""

    def __init__(self, engine: BenchEngine, table: str, storage: Storage, restricted: bool) -> None:
        super().__init__(engine, (), restricted)
        self.table, self.storage = table, storage
        self.fill(storage)
        engine.copy(table, f"{table}_before")

    def move(self, unchanged: frozenset[str], step: int) -> None:
        self._texts.clear()
        self.advance(self.storage, unchanged, False, step)


@dataclass
class Kept:
    """A query stored on a bench; `restricted` as where there are many stored rows."""

    bench: Bench
    case: Case
    restricted: bool = False
    parts: list[Part] = field(default_factory=list)
    """The intermediates, each behind those that it reads, then the query."""

    def __post_init__(self) -> None:
        engine = BenchEngine(self.bench)
        self.bench.follow(self.case.spec, 1)
        plan = self.bench.plan(self.case.spec).plan
        whole = store(plan, tuple(f"c{n}" for n in range(len(plan.columns))))
        found = cut(whole, frozenset(self.bench.schemas), _named)
        for part in found.intermediates:
            self.parts.append(Part(engine, part.name, store(part.plan, part.labels, float_sums=False), self.restricted))
        self.parts.append(Part(engine, "kept", found.storage, self.restricted))
        self.engine = engine

    @property
    def is_bearable(self) -> bool:
        return all(weight(maintain(part.storage)) <= MOST_OPERATORS for part in self.parts)

    def move(self, step: int) -> Rows:
        """What a reader sees after a step of the story."""
        unchanged = settled(self.bench.plan(self.case.spec).recursions, self.bench.unchanged(step))
        self.bench.follow(self.case.spec, step)
        for part in self.parts:
            self.engine.copy(part.table, f"{part.table}_before")
            part.move(unchanged, step - 1)
            self.engine.difference(f"{part.table}_before", part.table, f"{part.table}_changes")
            if tables(part.storage.plan) <= unchanged or self.engine.is_empty(f"{part.table}_changes"):
                unchanged |= {part.table}
        storage = self.parts[-1].storage
        where = f" WHERE {quote(storage.visible_label)}" if storage.visible_label else ""
        listed = ", ".join(map(quote, storage.labels))
        return self.bench.rows(translated(f"SELECT {listed} FROM kept{where}"), step)


def kept(bench: Bench, case: Case) -> Verdict:
    """The case stored, and moved through the whole story."""
    return guarded(case, 0, lambda: _kept(bench, case))


def _kept(bench: Bench, case: Case) -> Verdict:
    stored = Kept(bench, case, restricted=case.seed // 5 % 2 == 1)
    if not stored.is_bearable:
        return Verdict(case, Outcome.DEEP, 0)
    changed = False
    for step, (before, after) in enumerate(pairwise(bench.states(case.spec)), start=1):
        got = stored.move(step)
        if got != after:
            return Verdict(case, Outcome.STORED, step, difference(after, got))
        changed |= before != after
    return Verdict(case, Outcome.HOLDS, 0, f"{len(stored.parts) - 1}", changed)


def _named(plan: Node) -> str:
    text = render(plan, lambda table, version: quote(table))
    return _INTERMEDIATE + hashlib.sha256(text.encode()).hexdigest()[:12]
