"""The law for intermediates: a query cut into parts that are each stored is still the query."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from trickle.delta.cut import Cut, Intermediate, cut
from trickle.delta.state import Storage, initial, maintain, store
from trickle.plan import STORED, WEIGHT, Node, Version, before
from trickle.sql.lower import lower
from trickle.sql.render import quote, render
from trickle.testing.oracle.history import SCHEMAS, TABLES, Step
from trickle.testing.oracle.stored import Drift, StoredWorld, alike, in_order

Relation = Callable[[str, Version], str]


class CutWorld(StoredWorld):
    """A history over which a query is maintained through intermediates, all that there can be."""

    def check_cut(self, text: str) -> tuple[Drift | None, int]:
        """The first step after which the stored rows are wrong, and how many intermediates there are."""
        query = lower(text, SCHEMAS)
        whole = store(query.plan, tuple(f"c{n}" for n in range(len(query.labels))))
        found = cut(whole, frozenset(TABLES), named)
        expected_sql = render(query.plan, self.engine.relation, whole.labels)
        self._texts.clear()
        for part in found.intermediates:
            self.create(part)
        self.fill(found.storage)
        for n, step in enumerate(self.history):
            self.move(found, step, n)
            expected, got = self.engine.rows(expected_sql, n), self.published(found.storage)
            if not alike(expected, got):
                return Drift(text, n, step, expected, got, ""), len(found.intermediates)
        return None, len(found.intermediates)

    def create(self, part: Intermediate) -> None:
        storage = stored(part)
        sql = render(before(initial(storage)), self.relation, storage.stored_labels)
        self.engine.store(part.name, sql, 0)
        self.engine.copy(part.name, f"{part.name}_before")

    def move(self, found: Cut, step: Step, n: int) -> None:
        for part in found.intermediates:
            storage = stored(part)
            self.engine.copy(part.name, f"{part.name}_before")
            sql = self.sql_of((part.name,), lambda s=storage, name=part.name: self.change_sql(s, name))  # type: ignore[misc]
            worst = self.engine.apply(part.name, [quote(label) for label in storage.stored_labels], sql, n)
            if worst is not None and worst < 0:
                raise AssertionError(f"a change deletes what is not stored: {sql}")
            self.engine.difference(f"{part.name}_before", part.name, f"{part.name}_changes")
        self.apply(found.storage, self.sql_of((), lambda: self.change_sql(found.storage, STORED)), n)

    def change_sql(self, storage: Storage, name: str) -> str:
        change = in_order(maintain(storage), [*(c.name for c in storage.columns), WEIGHT])
        return render(change, self.of(name), (*storage.stored_labels, WEIGHT))

    def of(self, name: str) -> Relation:
        return lambda table, version: quote(name) if table == STORED else self.relation(table, version)

    def relation(self, table: str, version: Version) -> str:
        if not table.startswith("i_"):
            return super().relation(table, version)
        return quote(table if version is Version.AFTER else f"{table}_{version.value}")


def stored(part: Intermediate) -> Storage:
    return store(part.plan, part.labels, float_sums=False)


def named(plan: Node) -> str:
    text = render(plan, lambda table, version: quote(table))
    return "i_" + hashlib.sha256(text.encode()).hexdigest()[:12]
