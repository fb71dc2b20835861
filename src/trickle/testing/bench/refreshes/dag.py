"""Waves of refreshes: a chain of ten, a fan of twenty, a diamond."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import trickle

from ..arena import Arena
from .duel import Duel, Fighter, undisturbed
from .scenarios import Facts
from .verdict import Verdict

ROWS, CHANGED = 100_000, 100
CHAIN, FAN = 10, 20
TARGETS_MS = {"chain of 10": 2500, "fan of 20": 5000, "diamond": 2500}


@dataclass
class Wave(Fighter):
    """Stream tables that are refreshed together, sources first."""

    queries: dict[str, str] = field(default_factory=dict)

    def create(self, twin: bool = False) -> None:
        for name, query in self.queries.items():
            self.db.create_stream_table(name, query, refresh_mode="DIFFERENTIAL")

    def drop(self) -> None:
        for name in reversed(self.queries):
            self.db.drop_stream_table(name)

    def _refresh(self) -> None:
        for done in self.db.refresh_all():
            if done.action not in ("DIFFERENTIAL", "NO_DATA"):
                raise AssertionError(f"{done.name} was refreshed by {done.action} {done.reason}")

    def full(self, timed: bool = True) -> None:
        spent = undisturbed(lambda: self.db.refresh_all(full=True))
        self.times["full"] += [spent] if timed else []

    def recompute(self, timed: bool = True) -> None:
        """Each query of the wave, one after the other."""
        spent = sum(self._recomputed(name, query) for name, query in self.queries.items())
        self.times["spark"] += [spent] if timed else []

    def _recomputed(self, name: str, query: str) -> float:
        one = Fighter(self.db, name, query, self.folder)
        one.recompute()
        return one.times["spark"][0]


def measure(arena: Arena, rounds: int = 7, warmups: int = 3, say: Callable[[str], None] = print) -> list[Duel]:
    """Each wave after a change of a hundred facts, which is not timed.

    One way after the other: a full wave writes all files anew, and nobody has read those when a differential one comes.
    """
    db, facts = arena.db, Facts(arena, arena.sized(ROWS))
    facts.create()
    found = []
    for name, queries in waves().items():
        wave = made(db, arena.folder / "dag", name, queries)
        for way in (wave.differential, wave.full, wave.recompute):
            for number in range(warmups + rounds):
                facts.change(CHANGED)
                way(number >= warmups)
        wave.drop()
        found.append(wave.duel(facts.rows, CHANGED))
        say(f"{name}: {found[-1].differential.median:.0f} ms")
    return found


def made(db: trickle.Session, folder: Path, name: str, queries: dict[str, str]) -> Wave:
    wave = Wave(db, name, "", folder, queries=queries)
    wave.create()
    return wave


def waves() -> dict[str, dict[str, str]]:
    return {"chain of 10": chain(), "fan of 20": fan(), "diamond": diamond()}


def verdicts(duels: Sequence[Duel]) -> list[Verdict]:
    return [
        Verdict(f"{d.name}, {d.changed_rows} changed rows: ms", d.differential.median, TARGETS_MS[d.name])
        for d in duels
    ]


def chain() -> dict[str, str]:
    """Each reads the one before: projections, filters, and an aggregate last."""
    found = {"c1": "SELECT id, thing, kind, amount FROM facts"}
    for n in range(2, CHAIN):
        found[f"c{n}"] = f"SELECT id, thing, kind, amount + 1 AS amount FROM c{n - 1} WHERE id % 97 <> {n}"
    return found | {f"c{CHAIN}": f"SELECT kind, count(*) AS n, sum(amount) AS total FROM c{CHAIN - 1} GROUP BY kind"}


def fan() -> dict[str, str]:
    return {
        f"f{n}": f"SELECT kind, count(*) AS n, sum(amount) AS total FROM facts WHERE id % {FAN} = {n} GROUP BY kind"
        for n in range(FAN)
    }


def diamond() -> dict[str, str]:
    return {
        "d_left": "SELECT kind, sum(amount) AS total FROM facts GROUP BY kind",
        "d_right": "SELECT kind, count(*) AS n FROM facts GROUP BY kind",
        "d_both": "SELECT l.kind, l.total, r.n FROM d_left l JOIN d_right r ON l.kind = r.kind",
    }
