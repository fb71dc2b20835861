"""The same change of orders at two scales of TPC-H: a refresh should cost by the change, not by the tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from ....records import Record
from ..arena import Arena
from ..measure import Timing
from .tpch import Plan, entered
from .verdict import Verdict, geometric_mean

TARGET = 1.5
REACHED = ("q01", "q03", "q04", "q05", "q06", "q07", "q10", "q12", "q14", "q18", "q19")
"""The queries that a change of orders reaches through keys that tables are clustered by.

It does not reach 2, 11 and 16 at all; 8, 9, 13, 15, 17, 20, 21 and 22 ask for all rows of a part, a supplier or a
customer, by keys that lines and orders are not clustered by.
"""


@dataclass(frozen=True)
class Grown(Record):
    """One query's differential refreshes at both scales."""

    name: str
    small: Timing
    large: Timing

    @property
    def ratio(self) -> float:
        return self.large.median / self.small.median

    def asdict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "small_ms": self.small.asdict(),
            "differential_ms": self.large.asdict(),
            "ratio": self.ratio,
        }


def measure(
    arenas: Callable[[], AbstractContextManager[Arena]], plan: Plan, to: float, say: Callable[[str], None] = print
) -> list[Grown]:
    """The plan at its own scale, then at another, each in a lake of its own."""
    small, large = (_timed(arenas, replace(plan, scale=scale), say) for scale in (plan.scale, to))
    return [Grown(name, small[name], large[name]) for name in small]


def _timed(
    arenas: Callable[[], AbstractContextManager[Arena]], plan: Plan, say: Callable[[str], None]
) -> dict[str, Timing]:
    with arenas() as arena:
        fighters, changes = entered(arena, plan, None, say)
        for number in range(plan.warmups + plan.rounds):
            changes.run()
            for fighter in fighters:
                fighter.differential(number >= plan.warmups)
            say(f"round {number + 1} of {plan.warmups + plan.rounds}")
        return {f.name: Timing(tuple(f.times["differential"])) for f in fighters}


def verdicts(grown: Sequence[Grown]) -> list[Verdict]:
    return [Verdict("growth, geometric mean", geometric_mean(g.ratio for g in grown), TARGET)]
