"""The stored rows of a stream table moved by the change of its sources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import pyarrow as pa
import pyarrow.compute as pc

from ..delta.declared import NOTHING, Declared, arranged, rely
from ..delta.state import Storage, maintain, steps, top
from ..execute import rows as row_work
from ..execute.transaction import Located, Transaction
from ..lake.held import Held
from ..lake.model import Bound, Table
from ..lake.types import to_spark
from ..learning import once
from ..plan import CONTRIBUTIONS, KEYS, STORED, Node, Version, weight
from ..plan.recursion import settled
from . import apply as applying
from . import large
from .change_sql import labelled as labels_of
from .change_sql import stored_change
from .compile import MOST_OPERATORS, Compiled
from .frames import Frames, sql_name
from .groups import Groups
from .lookups import Lookup, bounds
from .phases import phase
from .recursion import Recursions
from .replacing import arrive
from .statements import Statement

FEW_CHANGES = 100_000
"""Changed rows up to which the driver holds what became of each group."""
MOST_SENT = 250_000
"""Changed rows up to which what follows the change is sent to every task; more would not fit in there."""
FEW_STORED = 50_000
"""Stored rows up to which they are joined as they are; of more, those that the change names are looked up first."""


@dataclass
class Differential:
    """One differential refresh of one stored table, staged in a transaction."""

    transaction: Transaction
    stored: Table
    compiled: Compiled
    frames: Frames
    unchanged: frozenset[str]
    changed_rows: int
    appending: bool
    declared: Declared = NOTHING

    def __post_init__(self) -> None:
        recursions = self.compiled.recursions
        self.unchanged = settled(recursions, self.unchanged)
        # Whether a recursion only gains rows cannot be seen from the plan that reads it.
        self.appending = self.appending and not recursions
        Recursions.join(self.frames, recursions, self.storage, self.unchanged)

    @cached_property
    def storage(self) -> Storage:
        assert self.compiled.storage is not None
        return arranged(self.compiled.storage, self.declared)

    def run(self) -> tuple[int, int]:
        """Rows added and rows removed."""
        try:
            if self.storage.top is not None and self.changed_rows <= FEW_CHANGES and self.compiled.ranks_changes:
                return self.among_the_first()
            return self.in_steps() if self.goes_in_steps else self.in_one_statement()
        finally:
            self.frames.close()

    @property
    def goes_in_steps(self) -> bool:
        """Few groups, those that few rows touch, and those whose change Spark could not plan at once."""
        if self.storage.aggregate is None or not _adds_exactly(self.stored):
            return False
        return self.changed_rows <= FEW_CHANGES or self.needs_steps or self.has_few_groups

    @property
    def has_few_groups(self) -> bool:
        """However many rows change, they become a row for each group."""
        return self.transaction.most_rows(self.stored) <= FEW_STORED

    @property
    def needs_steps(self) -> bool:
        known = self.compiled.heavy
        if self.declared not in known:
            known[self.declared] = weight(maintain(self.storage)) > MOST_OPERATORS
        return known[self.declared]

    def in_one_statement(self) -> tuple[int, int]:
        """A result that should be small comes to the driver; how much a join makes of a change shows when it is done.

        What was more than the driver should hold is not tried with it again, unless it was little after all.
        """
        change = self.statement("delta", partial(stored_change, self.storage, self.unchanged, self.appending))
        if self.changed_rows > self.small:
            return self.by_spark(change, self.is_large)
        if self.changed_rows < self.compiled.outgrown.get(self.unchanged, self.small + 1):
            found = self.few(change)
            if found is not None:
                return applying.apply_local(self.transaction, self.stored, found, self.storage.key)
            self.compiled.outgrown[self.unchanged] = self.changed_rows
        added, removed = self.by_spark(change, is_large=True)
        if added + removed <= self.small:
            self.compiled.outgrown.pop(self.unchanged, None)
        return added, removed

    def by_spark(self, change: Statement, is_large: bool) -> tuple[int, int]:
        return large.apply(self.transaction, self.stored, self.frames.run(change, is_large), self.storage.key)

    @property
    def small(self) -> int:
        return int(self.transaction.lake.settings["refresh.small_result_rows"])

    @property
    def is_large(self) -> bool:
        return self.changed_rows > MOST_SENT

    def few(self, statement: Statement) -> pa.Table | None:
        """The rows of a result; None if they are more than the driver should hold."""
        found = self.collect(statement, self.small + 1)
        return found if found.num_rows <= self.small else None

    def among_the_first(self) -> tuple[int, int]:
        """Rows that came are ranked with the stored ones; all rows only if one of those went."""
        found = self.collect(self.statement("first", partial(top.merged, self.storage, self.unchanged)))
        if pc.any(pc.equal(found.column(top.LOST.name), 1)).as_py():
            return self.in_one_statement()
        return applying.apply_local(self.transaction, self.stored, found.drop_columns([top.LOST.name]))

    # In steps.

    def in_steps(self) -> tuple[int, int]:
        foreseen = self.foreseen()
        if foreseen or self.transaction.most_rows(self.stored) <= FEW_STORED:
            located = self.transaction.located(self.stored, foreseen, here=True)
            found = self.outcome("outcome", located, self.contributions, restricted=False)
        else:
            came = self.grouped(self.statement("contributions", self.contributions, labelled=False))
            if came is None:
                return self.too_many_groups()
            if came.num_rows == 0:
                return 0, 0
            located = self.transaction.located(self.stored, self.found(came), here=True)
            self.hand_in(CONTRIBUTIONS, came)
            found = self.outcome("looked up", located, partial(steps.contributed, self.storage), restricted=True)
        return self.too_many_groups() if found is None else self.settle(Groups(self.storage, found), located)

    def too_many_groups(self) -> tuple[int, int]:
        change = self.statement("delta", partial(stored_change, self.storage, self.unchanged, self.appending))
        return self.by_spark(change, is_large=True)

    def grouped(self, statement: Statement) -> pa.Table | None:
        """A row for each group that the change touches; None if they are many, and there is another way."""
        return self.collect(statement) if self.needs_steps else self.few(statement)

    def foreseen(self) -> list[Bound]:
        """What the driver knows of the keys of touched groups before anything runs: they come from what it holds."""
        statement = self.statement("contributions", self.contributions, labelled=False)
        with phase("bind"):
            self.frames.fetch(statement)
        lookup = Lookup(STORED, Version.BEFORE, statement.keys(self.storage.key or ()))
        return bounds(lookup, self.stored, self.frames.held)

    def contributions(self) -> Node:
        return steps.contributions(self.storage, self.unchanged, self.appending)

    def outcome(self, kind: str, located: Located, came: Callable[[], Node], restricted: bool) -> pa.Table | None:
        def plan() -> Node:
            return steps.outcome(self.storage, came(), self.appending, restricted=restricted)

        self.frames.makers[STORED, Version.BEFORE] = lambda columns, bounds: located.rows
        return self.grouped(self.statement(kind, plan))

    def settle(self, groups: Groups, located: Located) -> tuple[int, int]:
        if groups.drifted:
            raise applying.drift(self.stored, groups.drifted, groups.found.num_rows)
        rescanned = None
        if groups.to_rescan.any():
            self.hand_in(KEYS, groups.keys)
            rescanned = self.collect(self.statement("rescan", partial(steps.rescan, self.storage)))
        arriving, gone = groups.settled(rescanned)
        if len(gone):
            row_work.remove(self.transaction, self.stored, located, *groups.where(gone))
        if arriving.num_rows or len(gone):
            arrive(self.transaction, self.stored, arriving if arriving.num_rows else None)
        return arriving.num_rows, len(gone)

    def found(self, came: pa.Table) -> list[Bound]:
        keys = list(self.storage.key or ())
        return applying.bounds(self.stored, came.select(range(len(keys))).rename_columns(keys), keys)

    def hand_in(self, relation: str, rows: pa.Table) -> None:
        """Make rows that the driver holds a relation of the next step."""
        held = Held(rows)
        self.frames.makers[relation, Version.AFTER] = lambda columns, bounds: held

    # Both.

    def statement(self, kind: str, plan: Callable[[], Node], labelled: bool = True) -> Statement:
        """Made once; its labelled columns have the types they are stored with, for which Spark is asked once."""
        stored = tuple((c.name, c.type) for c in self.stored.columns)
        key = (kind, self.frames.prefix, self.unchanged, self.appending, self.declared, stored)
        if key not in self.compiled.statements:
            with once():
                self.compiled.statements[key] = self.made(plan(), labelled)
        return self.compiled.statements[key]

    def made(self, plan: Node, labelled: bool) -> Statement:
        made, _ = rely(plan, self.declared)
        labels = labels_of(self.storage, made) if labelled else made.names
        statement = Statement.of(made, partial(sql_name, self.frames.prefix), labels)
        if not labelled:
            return statement
        types = {c.name: to_spark(c).simpleString() for c in self.stored.columns}
        return statement.typed(self.frames.run(statement, self.is_large).schema, types)

    def collect(self, statement: Statement, most: int | None = None) -> pa.Table:
        return self.frames.rows(statement, self.is_large, most)


def _adds_exactly(stored: Table) -> bool:
    """Whether a sum of two stored values has the type of each: the widest decimals lose digits."""
    types = [to_spark(c) for c in stored.columns if not c.children]
    return not any(getattr(t, "precision", 0) == 38 and getattr(t, "scale", 0) > 6 for t in types)
