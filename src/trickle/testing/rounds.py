"""Recursions on a bench of DuckDB: computed round by round, or deleted and rederived, as a refresh does it.

After `follow` the recursion is there like a table of the step: before, after, and what changed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from trickle.delta import recursion as plans
from trickle.plan import WEIGHT, Node, Version
from trickle.plan.recursion import Recursion

_FOUND, _KNOWN, _KEPT, _OLD, _NEW = ("__found", "__known", "__kept", "__old", "__new")


@dataclass
class Rounds:
    connection: Any
    sql: Callable[[Node], str]
    """A plan in DuckDB's words."""

    def follow(self, recursion: Recursion, unchanged: frozenset[str]) -> None:
        self.all(recursion, Version.BEFORE, _OLD)
        if plans.obstacle(recursion):
            self.all(recursion, Version.AFTER, _NEW)
        else:
            self.rederive(recursion, unchanged)
        self.create(f"{recursion.table}_before", f"FROM {_OLD}")
        self.create(f"{recursion.table}_after", f"FROM {_NEW}")
        came = f"SELECT *, 1 AS {WEIGHT} FROM (FROM {_NEW} EXCEPT ALL FROM {_OLD})"
        went = f"SELECT *, -1 AS {WEIGHT} FROM (FROM {_OLD} EXCEPT ALL FROM {_NEW})"
        self.create(f"{recursion.table}_changes", f"{came} UNION ALL {went}")

    def all(self, recursion: Recursion, version: Version, to: str) -> None:
        """R = base ∪ step(R)"""
        self.create(_FOUND, self.sql(plans.begin(recursion, version)))
        self.create(_KNOWN, f"FROM {_FOUND} LIMIT 0")
        self.spread(recursion, version)
        self.create(to, f"FROM {_KNOWN}")

    def rederive(self, recursion: Recursion, unchanged: frozenset[str]) -> None:
        """What lost a derivation goes with all that stems from it; what has another one, or came, is carried on."""
        table = recursion.table
        self.create(f"{table}_before", f"FROM {_OLD}")
        self.create(_FOUND, self.sql(plans.lost(recursion, unchanged)))
        self.create(_KNOWN, f"FROM {_FOUND} LIMIT 0")
        self.spread(recursion, Version.BEFORE)
        self.create("__gone", f"FROM {_KNOWN}")
        self.create(_KEPT, f"FROM {_OLD} EXCEPT FROM __gone")
        self.create(f"{table}_after", f"FROM {_KEPT}")
        again = f"(FROM __gone INTERSECT ({self.sql(plans.derived(recursion))}))"
        came = f"({self.sql(plans.gained(recursion, unchanged))})"
        self.create(_FOUND, f"({again} UNION {came}) EXCEPT FROM {_KEPT}")
        self.create(_KNOWN, f"FROM {_KEPT}")
        self.spread(recursion, Version.AFTER)
        self.create(_NEW, f"FROM {_KNOWN}")

    def spread(self, recursion: Recursion, version: Version) -> None:
        """Add to the known rows those found, and those that stem from them."""
        step = self.sql(plans.advance(recursion, version))
        while not self.is_empty(_FOUND):
            self.create(f"{recursion.table}_before", f"FROM {_KNOWN}")
            self.create(f"{recursion.table}_changes", f"SELECT *, 1 AS {WEIGHT} FROM {_FOUND}")
            self.create(_KNOWN, f"FROM {recursion.table}_before UNION ALL FROM {_FOUND}")
            self.create(f"{recursion.table}_after", f"FROM {_KNOWN}")
            self.create(_FOUND, f"({step}) EXCEPT FROM {_KNOWN}" if recursion.distinct else step)

    def create(self, table: str, sql: str) -> None:
        self.connection.execute(f"CREATE OR REPLACE TEMP TABLE __made AS {sql}")
        self.connection.execute(f'CREATE OR REPLACE TEMP TABLE "{table}" AS FROM __made')

    def is_empty(self, table: str) -> bool:
        return self.connection.execute(f"FROM {table} LIMIT 1").fetchone() is None
