"""A stream table moved by the change of its sources: first its intermediates, then what it stores itself."""

from __future__ import annotations

from dataclasses import dataclass

from ..delta.declared import NOTHING, Declared
from ..delta.state import Storage, initial
from ..execute.transaction import Transaction
from ..lake.model import Table
from ..plan import tables
from ..plan.recursion import needed
from .compile import Compiled
from .declared import part_makers
from .differential import Differential
from .frames import Frames
from .intermediates import frames_prefix
from .lookups import Read
from .windows import Maker, held_in, makers, stored_makers


@dataclass
class Advance:
    """One differential refresh, staged in a transaction."""

    transaction: Transaction
    compiled: Compiled
    makers: dict[Read, Maker]
    """How the sources are read."""
    prefix: str
    unchanged: frozenset[str]
    changed_rows: int
    appending: bool
    declared: Declared = NOTHING

    def run(self, stored: Table) -> tuple[int, int]:
        """Rows added to the stored table and rows removed from it."""
        try:
            return self.moved(stored)
        finally:
            self.transaction.lake.leave_desk()

    def moved(self, stored: Table) -> tuple[int, int]:
        known = dict(self.compiled.tables)
        self.makers |= part_makers(self.declared, self.compiled, self.makers)
        for kept in self.compiled.kept:
            part = kept.intermediate
            # An intermediate loses rows, its sources need not.
            appending = self.appending and tables(part.plan) <= self.compiled.tables.keys()
            moved = self.move(kept.compiled, kept.table, frames_prefix(self.prefix, part), known, appending)
            self.makers |= makers(self.transaction.lake, {part.name: held_in(self.transaction, kept.table)})
            known[part.name] = kept.table
            self.changed_rows = max(self.changed_rows, sum(moved))
            if not any(moved):
                self.unchanged |= {part.name}
        return self.move(self.compiled, stored, self.prefix, known, self.appending and not self.compiled.kept)

    def move(
        self, compiled: Compiled, stored: Table, prefix: str, known: dict[str, Table], appending: bool
    ) -> tuple[int, int]:
        assert compiled.storage is not None
        if self.reads(compiled, compiled.storage) <= self.unchanged:
            return 0, 0
        read = self.makers | stored_makers(self.transaction, stored)
        frames = Frames(self.transaction.lake, prefix, known, read, at_desk=not self.compiled.functions)
        work = Differential(
            self.transaction,
            stored,
            compiled,
            frames,
            self.unchanged,
            self.changed_rows,
            appending=appending,
            declared=self.declared,
        )
        return work.run()

    def reads(self, compiled: Compiled, storage: Storage) -> frozenset[str]:
        """The tables and intermediates behind the stored rows."""
        direct = tables(initial(storage))
        recursions = needed(compiled.recursions, direct)
        return (direct | frozenset().union(*(r.sources for r in recursions))) - {r.table for r in recursions}
