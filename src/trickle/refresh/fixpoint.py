"""Stream tables that read one another in a circle, brought to a data snapshot together: one fixpoint, one commit."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

from ..errors import CommitConflict, CycleDetected, TrickleError
from ..execute.transaction import Transaction
from ..lake.draft import Draft
from ..lake.foreign import translated
from ..lake.model import Snapshot
from ..registry.models import FUNCTION_CHANGED, SCHEMA_CHANGED, SUSPENDED, StreamTable
from . import apply as applying
from . import intermediates
from .choose import Choice
from .look import Look, measure
from .refresh import Refresher
from .result import RefreshResult
from .run import Run
from .solution import Part, Solution, Spread
from .sources import Point
from .stored import Fit
from .windows import Window, changed_tables

_ONE_AT_A_TIME = threading.Lock()
"""Rounds name their relations by the circle: two of one session would take each other's."""


class Fixpoint:
    """One refresh of all members of a circle."""

    def __init__(
        self, refresher: Refresher, tables: Sequence[StreamTable], target: Snapshot, full: bool, initiated_by: str
    ) -> None:
        self.refresher, self.lake, self.target, self.full = refresher, refresher.lake, target, full
        self.runs = [Run(refresher, t, target, full, initiated_by) for t in tables]
        self.head = self.runs[0].head
        for run in self.runs:
            run.head = self.head
        self.rounds = 0

    @classmethod
    def refresh(
        cls, refresher: Refresher, tables: Sequence[StreamTable], target: Snapshot, full: bool, initiated_by: str
    ) -> list[RefreshResult]:
        """Bring the circle to the target; lost races are run again from the start."""
        tries = refresher.lake.settings["lake.commit_retries"]
        with _ONE_AT_A_TIME:
            for attempt in range(tries + 1):
                try:
                    return cls(refresher, tables, target, full, initiated_by).run()
                except CommitConflict:
                    if attempt == tries:
                        raise
                    tables = [refresher.find(t.schema, t.name) for t in tables]
        raise AssertionError("unreachable")

    @classmethod
    def preview(cls, refresher: Refresher, tables: Sequence[StreamTable]) -> Choice:
        """What the next refresh would do."""
        return cls(refresher, tables, refresher.lake.head(), False, "preview").look()[1]

    def run(self) -> list[RefreshResult]:
        try:
            look, choice = self.look()
            if choice.action in ("SKIP", "NO_DATA"):
                frontier = self.target.id if choice.action == "NO_DATA" else None
                return [run.note(choice, frontier or run.table.frontier) for run in self.runs]
            return self.act(look, choice)
        except CommitConflict:
            raise
        except TrickleError as error:
            for run in self.runs:
                run.fail(error)
            raise

    # Look and choose.

    def look(self) -> tuple[Look, Choice]:
        """What the catalog says of the sources outside, and what is to be done."""
        tables = [run.table for run in self.runs]
        nothing = Look(self.target, {})
        if any(t.status == SUSPENDED for t in tables):
            return nothing, Choice("SKIP", "suspended")
        first = tables[0]
        if first.frontier is None or any(t.frontier is None for t in tables):
            return self.whole(), Choice("FULL", "initial_load")
        if first.frontier > self.target.id:
            self.aim(self.lake.snapshot(first.frontier))
        if not (self.full or self.anything_changed(tables)):
            return nothing, Choice("NO_DATA")
        for run in self.runs:
            run.check_sources(run.table.frontier)
        pending = next((run.table.pending for run in self.runs if run.table.pending), "")
        if pending or len({(t.frontier, t.seen) for t in tables}) > 1:
            return self.whole(), Choice("REINITIALIZE", pending or "drift_reset")
        if self.full or any(t.refresh_mode == "FULL" for t in tables):
            return self.whole(), Choice("FULL", "requested" if self.full else "refresh_mode")
        if not self.runs[0].is_kept(first.frontier):
            strict = next((run for run in self.runs if run.table.refresh_mode == "DIFFERENTIAL"), None)
            if strict is not None:
                raise strict.expired()
            return self.whole(), Choice("REINITIALIZE", "history_expired")
        look = measure(self.lake, self.target, self.windows(Point.of(first)))
        if look.misplaced:
            return self.whole(), Choice("REINITIALIZE", "misplaced_delete")
        return look, Choice("DIFFERENTIAL" if look.changed_rows else "NO_DATA")

    def aim(self, target: Snapshot) -> None:
        """Somebody was faster, with a newer target: a frontier never moves back."""
        self.target = target
        for run in self.runs:
            run.target = target

    def anything_changed(self, tables: Sequence[StreamTable]) -> bool:
        """As of one stream table, the members' own commits left out."""
        own = {t.stored for t in tables}
        first = tables[0]
        assert first.frontier is not None
        rows, definitions = changed_tables(self.lake, first.frontier, self.head.id)
        known = {True: first.seen or first.frontier, False: first.frontier}
        read = [d for t in tables for d in t.dependencies if d.name not in own]
        return any(t.pending for t in tables) or any(
            max(rows.get(d.table_id, -1), definitions.get(d.table_id, -1)) > known[d.is_stream_table] for d in read
        )

    def whole(self) -> Look:
        return Look(self.target, self.windows(None))

    def windows(self, start: Point | None) -> Mapping[str, Window]:
        own = {run.table.stored for run in self.runs}
        every = {n: t for run in self.runs for n, t in run.compiled.tables.items()}
        outside = {n: t for n, t in every.items() if f"{t.schema}.{t.name}" not in own}
        return self.refresher.sources.windows(outside, start, Point(self.target.id, self.head.id))

    # Act.

    def parts(self, transaction: Transaction) -> list[Part]:
        stored = [self.refresher.stored(run.table, transaction.base) for run in self.runs]
        return [Part(run.table, run.compiled.entire, s) for run, s in zip(self.runs, stored, strict=True)]

    def act(self, look: Look, choice: Choice) -> list[RefreshResult]:
        transaction = Transaction(self.lake, Draft(self.lake.head()))
        label = ", ".join(run.table.label for run in self.runs)
        try:
            with translated(f"circle of stream tables {label}"):
                choice, changed = self.change(transaction, look, choice)
            return self.commit(transaction, look, choice, changed)
        except applying.Drift:
            transaction.draft.discard(self.lake.storage)
            if choice.action != "DIFFERENTIAL":
                raise
            return self.act(self.whole(), Choice("REINITIALIZE", "drift_reset"))
        except BaseException:
            transaction.draft.discard(self.lake.storage)
            raise

    def change(self, transaction: Transaction, look: Look, choice: Choice) -> tuple[Choice, list[tuple[int, int]]]:
        """Stage what changes of every member; the choice then says by which way."""
        parts = self.parts(transaction)
        self.end_intermediates(transaction)
        if choice.reason in (SCHEMA_CHANGED, FUNCTION_CHANGED):
            parts = [self.require_same_columns(transaction, part) for part in parts]
        solution = Solution(self.lake, parts, look.windows, self.prefix)
        if choice.action != "DIFFERENTIAL":
            found = solution.anew()
            self.rounds = found.rounds
            return choice, [solution.fill(transaction, part, found) for part in parts]
        reason, found = self.spread(solution, transaction, look)
        self.rounds = found.rounds
        assert found.change is not None
        sizes = solution.sizes(found.change)
        still = (m.names for n, m in enumerate(solution.circle.members) if n not in sizes)
        settled, rows = look.unchanged.union(*still), look.changed_rows + sum(sizes.values())
        changed = [solution.move(transaction, part, found, settled, rows) for part in parts]
        return Choice("DIFFERENTIAL", f"{reason}:{found.rounds}"), changed

    def end_intermediates(self, transaction: Transaction) -> None:
        """A circle is followed as a whole: what its members stored on the way is not moved any more."""
        for run in self.runs:
            intermediates.drop_all(transaction, run.table)
            run.kept = ()

    def spread(self, solution: Solution, transaction: Transaction, look: Look) -> tuple[str, Spread]:
        if solution.moves(look.removed):
            return "fixpoint", solution.moved(transaction, look.unchanged)
        return "circular_deletes" if look.removed else "circular_recompute", solution.compared(transaction)

    def require_same_columns(self, transaction: Transaction, part: Part) -> Part:
        content = self.refresher.content(part.table, part.compiled, self.target, self.head)
        if content.fit(transaction, part.stored) is not Fit.ALL:
            raise CycleDetected(
                f'the columns of stream table "{part.table.label}" change, and it stands in a circle',
                hint="drop the members of the circle and create them again.",
            )
        return part

    @property
    def prefix(self) -> str:
        return f"{self.refresher.prefix}_f{self.runs[0].table.id}"

    # Commit.

    def commit(
        self, transaction: Transaction, look: Look, choice: Choice, changed: Sequence[tuple[int, int]]
    ) -> list[RefreshResult]:
        draft = transaction.draft
        label = ", ".join(run.table.label for run in self.runs)
        facts = {"stream_tables": label, "action": choice.action, "reason": choice.reason, "rounds": self.rounds}
        draft.message = f"refresh {label}"
        draft.extra_info = json.dumps({**facts, "data_snapshot": self.target.id})
        results: list[RefreshResult] = []

        def require(connection: Connection) -> None:
            for run in self.runs:
                self.refresher.registry.require(connection, run.table)

        def settle(connection: Connection, snapshot: int | None) -> None:
            for run, (inserted, deleted) in zip(self.runs, changed, strict=True):
                results.append(run.settle(connection, look, choice, inserted, deleted, snapshot))

        if draft.has_no_data:
            with self.lake.catalog.writing() as connection:
                require(connection)
                settle(connection, None)
            return results
        draft.requirements.append(lambda connection, _: require(connection))
        draft.riders.append(settle)
        self.lake.commit(draft)
        return results
