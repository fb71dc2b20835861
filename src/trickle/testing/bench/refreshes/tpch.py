"""The 22 queries of TPC-H as stream tables: refreshed after changes of orders, against Spark's recomputation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from ...tpch.catalogue import QUERIES
from ...tpch.tables import TABLES, generate, load
from ..arena import Arena
from ..measure import Timing
from .duel import Duel, Fighter
from .floor import aggregate_floor
from .orders import RefreshFunctions
from .rival import DuckDBRival, duckdb_rival
from .verdict import Verdict, geometric_mean

LINES_PER_ORDER = 4
RECOMPUTED = 2
"""Warm-ups that recompute too: what those run for seconds is compiled soon, what a refresh does in moments is not."""


@dataclass(frozen=True)
class Plan:
    """What is to be measured."""

    scale: float = 1.0
    orders: float = 0.001
    """Orders changed in a round; below 1, their share."""
    spread: bool = False
    rounds: int = 5
    warmups: int = 12
    queries: Sequence[str] = ()
    duckdb: bool = False
    """Let DuckDB recompute them too."""

    @property
    def changed_orders(self) -> int:
        return max(3, round(self.orders * 1_500_000 * self.scale)) if self.orders < 1 else round(self.orders)


@dataclass(frozen=True)
class Measured:
    plan: Plan
    duels: Sequence[Duel]
    floor: Timing

    def verdicts(self) -> list[Verdict]:
        """Of the targets for 0.1 % of the orders, and for ten of them."""
        gains = [duel.gain for duel in self.duels]
        slower = sum(gain <= 1 for gain in gains)
        few = self.plan.changed_orders <= 10
        found = [
            Verdict("queries that are slower than recomputing", slower, 0),
            Verdict("gain, geometric mean", geometric_mean(gains), 12 if few else 8, at_least=True),
        ]
        if few:
            typical = median(duel.differential.median for duel in self.duels)
            found.append(Verdict("median refresh in floors", typical / self.floor.median, 8))
        return found


def measure(arena: Arena, plan: Plan, say: Callable[[str], None] = print) -> Measured:
    with duckdb_rival(arena, plan.duckdb) as rival:
        return _measured(arena, plan, rival, say)


def entered(
    arena: Arena, plan: Plan, rival: DuckDBRival | None, say: Callable[[str], None]
) -> tuple[list[Fighter], RefreshFunctions]:
    """The tables loaded, a stream table for each query, and what will change."""
    db, folder = arena.db, arena.folder / "tpch"
    generate(plan.scale, folder / "rows")
    load(db, folder / "rows")
    say(f"loaded scale factor {plan.scale:g}")
    wanted = [q for q in QUERIES if not plan.queries or q.name in plan.queries]
    fighters = [Fighter(db, query.name, query.text, folder, rival) for query in wanted]
    for fighter in fighters:
        fighter.create()
    say(f"created {len(fighters)} stream tables")
    return fighters, RefreshFunctions(db, plan.changed_orders, plan.spread)


def _measured(arena: Arena, plan: Plan, rival: DuckDBRival | None, say: Callable[[str], None]) -> Measured:
    db = arena.db
    fighters, changes = entered(arena, plan, rival, say)
    floors: list[float] = []
    for number in range(plan.warmups + plan.rounds):
        changes.run()
        timed = number >= plan.warmups
        for fighter in fighters:
            fighter.differential(timed)
        for fighter in fighters if number >= plan.warmups - RECOMPUTED else ():
            fighter.recompute(timed)
        floors += aggregate_floor(db.spark).rounds if timed else ()
        say(f"round {number + 1 - plan.warmups}" if timed else f"warm-up {number + 1}")
    rows = db.sql(" UNION ALL ".join(f"SELECT count(*) FROM {t}" for t in TABLES)).toArrow().column(0)
    changed = plan.changed_orders * (1 + LINES_PER_ORDER)
    return Measured(plan, [f.duel(sum(rows.to_pylist()), changed) for f in fighters], Timing(tuple(floors)))
