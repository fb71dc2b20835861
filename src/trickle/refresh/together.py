"""Several stream tables brought to one data snapshot in one commit: whoever reads them sees all of it or none."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from sqlalchemy import Connection

from ..errors import CommitConflict, TrickleError
from ..execute.transaction import Transaction
from ..lake.draft import Draft
from ..lake.foreign import translated
from ..lake.model import Snapshot
from ..learning import told_to
from ..registry.models import FUNCTION_CHANGED, SCHEMA_CHANGED, StreamTable
from . import apply as applying
from .choose import Choice
from .content import Content
from .look import Look
from .refresh import Refresher
from .result import RefreshResult
from .run import Run
from .sources import Point
from .staged import touched
from .windows import Window, changed_tables


def refresh_together(
    refresher: Refresher,
    tables: Sequence[StreamTable],
    target: Snapshot,
    initiated_by: str = "user",
    full: bool = False,
) -> list[RefreshResult]:
    """The members, sources first, all at the target in one snapshot; lost races are run again from the start.

    What must be stored anew (not filled yet, or the sources' columns changed) goes one by one.
    """
    tries = refresher.lake.settings["lake.commit_retries"]
    with _locked(refresher, tables):
        for attempt in range(tries + 1):
            current = [refresher.find(t.schema, t.name) for t in tables]
            if any(t.frontier is None or t.pending for t in current):
                break
            if any(t.frontier is not None and t.frontier > target.id for t in current):
                return []  # somebody was faster, with a newer target
            try:
                return _Together(refresher, current, target, initiated_by, full).run()
            except _Apart:
                break
            except CommitConflict:
                if attempt == tries:
                    raise
    return [refresher.refresh(refresher.find(t.schema, t.name), target, full, initiated_by) for t in tables]


@contextmanager
def _locked(refresher: Refresher, tables: Sequence[StreamTable]) -> Iterator[None]:
    with ExitStack() as stack:
        for id in sorted(t.id for t in tables):
            stack.enter_context(refresher.locks[id])
        yield


class _Apart(Exception):
    """The members cannot go together this time."""


class _Held(Exception):
    """A member must not be refreshed now, so none is."""

    def __init__(self, result: RefreshResult) -> None:
        super().__init__(result.reason)
        self.result = result


@dataclass
class _Together:
    refresher: Refresher
    tables: Sequence[StreamTable]
    target: Snapshot
    initiated_by: str
    full: bool = False
    members: list[_Member] = field(default_factory=list)

    def run(self) -> list[RefreshResult]:
        lake = self.refresher.lake
        transaction = Transaction(lake, Draft(lake.head()))
        try:
            for table in self.tables:
                member = _Member(self, table, transaction)
                member.stage()
                self.members.append(member)
        except _Held as held:
            transaction.draft.discard(lake.storage)
            return [held.result]
        except BaseException:
            transaction.draft.discard(lake.storage)
            raise
        return self.commit(transaction)

    def commit(self, transaction: Transaction) -> list[RefreshResult]:
        draft, lake = transaction.draft, self.refresher.lake
        if draft.has_no_data:
            with lake.catalog.writing() as connection:
                self.require(connection, transaction.base)
                return [m.settled(connection, None) for m in self.members]
        found: list[RefreshResult] = []

        def rider(connection: Connection, snapshot: int) -> None:
            found.extend(m.settled(connection, snapshot) for m in self.members)

        labels = [t.label for t in self.tables]
        draft.requirements.append(self.require)
        draft.riders.append(rider)
        draft.message = f"refresh {', '.join(labels)}"
        draft.extra_info = json.dumps({"stream_tables": labels, "data_snapshot": self.target.id})
        lake.commit(draft)
        return found

    def require(self, connection: Connection, head: Snapshot) -> None:
        """Members unchanged, and no stream table that they read from outside was committed meanwhile: as everything
        up to the new commit counts as seen, that commit would be taken for seen too."""
        for member in self.members:
            self.refresher.registry.require(connection, member.table)
        own = {t.stored for t in self.tables}
        outside = {d.table_id for t in self.tables for d in t.dependencies if d.is_stream_table and d.name not in own}
        base = self.members[0].head.id
        if (
            outside
            and head.id > base
            and outside & changed_tables(self.refresher.lake, base, head.id, outside)[0].keys()
        ):
            raise CommitConflict("a stream table that the group reads was refreshed meanwhile", hint="refresh again.")


class _Member(Run):
    """One refresh inside a transaction that it shares with others."""

    def __init__(self, group: _Together, table: StreamTable, transaction: Transaction) -> None:
        super().__init__(group.refresher, table, group.target, group.full, group.initiated_by)
        self.transaction, self.head = transaction, transaction.base
        self.work: tuple[Look, Choice, int, int] | None = None

    def stage(self) -> None:
        try:
            with told_to(self.watch.learning):
                self.work = self.worked()
            self.watch.stop()
        except CommitConflict:
            raise
        except TrickleError as error:
            self.fail(error)
            raise

    def worked(self) -> tuple[Look, Choice, int, int]:
        look = self.look()
        choice = self.choose(look)
        if choice.action == "SKIP":
            raise _Held(self.note(choice, self.table.frontier, look.changed_rows))
        if choice.reason in (SCHEMA_CHANGED, FUNCTION_CHANGED):
            raise _Apart
        return look, choice, *self.staged(look, choice)

    def staged(self, look: Look, choice: Choice) -> tuple[int, int]:
        if choice.action == "NO_DATA":
            return 0, 0
        with translated(f'stream table "{self.table.label}"'):
            try:
                return self.change(self.transaction, look, choice)
            except applying.Drift:
                raise _Apart from None

    def settled(self, connection: Connection, snapshot: int | None) -> RefreshResult:
        """The registry's side of the commit. The commits of the other members are seen: they are the same."""
        assert self.work is not None
        self.seen = self.head.id if snapshot is None else snapshot
        stored = self.owner.stored(self.table, self.transaction.base)
        wrote = snapshot if stored.id in touched(self.transaction) else None
        return self.settle(connection, *self.work, wrote)

    def windows(self, start: Point | None) -> Mapping[str, Window]:
        """A source that the transaction has changed is read as it is there."""
        ours = touched(self.transaction)
        return {
            name: replace(w, end=self.head, within=self.transaction) if w.table.id in ours else w
            for name, w in super().windows(start).items()
        }

    def content(self) -> Content:
        return replace(super().content(), windows=self.windows(None))

    def anything_changed(self, frontier: int) -> bool:
        ours = touched(self.transaction)
        return any(d.table_id in ours for d in self.table.dependencies) or super().anything_changed(frontier)
