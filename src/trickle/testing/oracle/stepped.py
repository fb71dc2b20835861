"""The same law for small changes, which the driver carries over in steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trickle.delta.state import Storage, steps, top
from trickle.plan import CONTRIBUTIONS, KEYS, STORED, WEIGHT, Node, Version, tables
from trickle.refresh.change_sql import labelled
from trickle.refresh.groups import Groups
from trickle.sql.render import quote, render
from trickle.testing.oracle.engine import DuckEngine
from trickle.testing.oracle.history import Step
from trickle.testing.oracle.stored import StoredWorld, in_order


class SteppedWorld(StoredWorld):
    """A stored aggregate, maintained as a refresh of few changes does it; `restricted` as with many stored rows."""

    def __init__(self, engine: DuckEngine, history: Sequence[Step], restricted: bool = False) -> None:
        super().__init__(engine, history)
        self.restricted = restricted
        self.lost = 0
        """How often a top-k had to be ranked anew."""

    def advance(self, storage: Storage, unchanged: frozenset[str], appending: bool, n: int) -> str:
        if unchanged >= tables(storage.plan):
            return ""  # a refresh would find no data
        if storage.top is not None:
            return self.first(storage, unchanged, n)
        if storage.aggregate is None:
            return super().advance(storage, unchanged, appending, n)
        if self.restricted:
            came = self.sql_of(("came", unchanged), lambda: self.came(storage, unchanged, appending))
            found = self.engine.arrow(came, n)
            if not found.num_rows:
                return ""
            self.engine.hand_in(CONTRIBUTIONS, found)
        sql = self.sql_of(("outcome", unchanged), lambda: self.outcome(storage, unchanged, appending))
        groups = Groups(storage, self.engine.arrow(sql, n))
        if groups.drifted:
            raise AssertionError(f"a change deletes what is not stored: {sql}")
        arriving, gone = groups.settled(self.rescanned(storage, groups, n))
        self.engine.replace_rows(self.table, groups.where(gone)[1].tolist(), arriving)
        return sql

    def first(self, storage: Storage, unchanged: frozenset[str], n: int) -> str:
        plan = in_order(top.merged(storage, unchanged), [*(c.name for c in storage.columns), WEIGHT, top.LOST.name])
        labels = (*storage.stored_labels, WEIGHT, top.LOST.name)
        sql = self.sql_of(("first", unchanged), lambda: render(plan, self.relation, labels))
        found = self.engine.arrow(sql, n)
        lost = 1 in found.column(top.LOST.name).to_pylist()
        self.lost += lost
        sql = self.delta_sql(storage, unchanged) if lost else sql
        wanted = ", ".join(map(quote, (*storage.stored_labels, WEIGHT)))
        self.apply(storage, f"SELECT {wanted} FROM ({sql})", n)
        return sql

    def came(self, storage: Storage, unchanged: frozenset[str], appending: bool) -> str:
        plan = steps.contributions(storage, unchanged, appending)
        return self.rendered(plan, plan.names)

    def outcome(self, storage: Storage, unchanged: frozenset[str], appending: bool) -> str:
        came = steps.contributed(storage) if self.restricted else steps.contributions(storage, unchanged, appending)
        plan = steps.outcome(storage, came, appending, restricted=self.restricted)
        return self.rendered(plan, labelled(storage, plan))

    def rescanned(self, storage: Storage, groups: Groups, n: int) -> Any:
        if not groups.to_rescan.any():
            return None
        self.engine.hand_in(KEYS, groups.keys)
        plan = steps.rescan(storage)
        sql = self.sql_of(("rescan",), lambda: self.rendered(plan, labelled(storage, plan)))
        return self.engine.arrow(sql, n)

    def rendered(self, plan: Node, labels: Sequence[str]) -> str:
        return render(plan, self.placed, labels)

    def placed(self, table: str, version: Version) -> str:
        if table == STORED:
            return f"(SELECT *, 0 AS __trickle_file, rowid AS __trickle_pos FROM {quote(self.table)})"
        return quote(table) if table in (KEYS, CONTRIBUTIONS) else self.relation(table, version)
