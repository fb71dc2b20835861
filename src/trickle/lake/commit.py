"""A draft becomes a snapshot: locked, checked against what others committed, numbered, written; or nothing is."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from itertools import count

import numpy as np
from sqlalchemy import Connection, func, insert, select

from ..errors import AlreadyExists, CommitConflict, DependentsExist, NotFound
from . import entries, snapshots
from .catalog import Catalog
from .definitions import alive
from .deleting import Deleting, is_emptied, replaces_large
from .draft import Draft, TableDraft
from .files import by_few, has_table, reflect
from .model import DataFile, Snapshot
from .storage import Storage


@dataclass
class Committer:
    """Turns drafts into snapshots of one lake."""

    catalog: Catalog
    storage: Storage

    def commit(self, draft: Draft) -> int:
        """The new snapshot's id; `CommitConflict` if somebody else's commit stands in the way."""
        return self.finish(draft, self.prepared(draft))

    def prepared(self, draft: Draft) -> Deleting:
        """Delete files, written before the lock is taken."""
        deleting = Deleting(self.storage, draft, self._next(draft))
        deleting.prepare()
        return deleting

    def _next(self, draft: Draft) -> int:
        """The id that the draft's snapshot should get; asked for only where to be wrong would cost more than to ask."""
        if not replaces_large(draft):
            return draft.base.id + 1
        with self.catalog.reading() as connection:
            return snapshots.head(self.catalog, connection).id + 1

    def finish(self, draft: Draft, deleting: Deleting) -> int:
        """The rest, with no other committer beside us."""
        with self.catalog.writing() as connection:
            head = snapshots.head(self.catalog, connection)
            self._check(connection, draft, head)
            commit = Committing(self, connection, draft, head, deleting)
            id = commit.run()
        for path in set(draft.written) - commit.named:
            self.storage.remove(path)  # written in vain, or emptied again by the same transaction
        return id

    def _check(self, connection: Connection, draft: Draft, head: Snapshot) -> None:
        """What the draft stands on must still be true at the head."""
        for requirement in draft.requirements:
            requirement(connection, head)
        if head.id == draft.base.id:
            return
        since = snapshots.listing(self.catalog, connection, draft.base.id)
        touched = {what for s in since for kind, what in snapshots.tokens(s.changes) if kind in _DEFINING}
        for part in draft.tables.values():
            if part.before is not None:
                self._check_table(connection, part, touched, head)
        self._check_names(connection, draft, head)
        for swap in draft.swaps:
            part = TableDraft(swap.table, before=swap.table, seen={f.id: f for f in swap.old})
            self._check_files(connection, part)

    def _check_table(self, connection: Connection, part: TableDraft, touched: set[str], head: Snapshot) -> None:
        t = self.catalog.tables["table"]
        lives = connection.execute(
            select(func.count()).select_from(t).where(t.c.table_id == part.table.id, alive(t, head.id))
        ).scalar_one()
        if not lives:
            raise CommitConflict(f'table "{part.table.label}" was dropped meanwhile', hint="nothing was committed.")
        if str(part.table.id) in touched or f'"{part.table.schema}"."{part.table.name}"' in touched:
            raise _lost(part, "its definition was changed")
        if part.redefined and self._has_changed(connection, part, head):
            raise _lost(part, "its definition was changed")
        self._check_files(connection, part)

    def _has_changed(self, connection: Connection, part: TableDraft, head: Snapshot) -> bool:
        v = self.catalog.tables["schema_versions"].c
        newest = connection.execute(select(func.max(v.schema_version)).where(v.table_id == part.table.id)).scalar()
        return newest is not None and part.before is not None and newest > part.before.schema_version

    def _check_files(self, connection: Connection, part: TableDraft) -> None:
        """Files that rows are deleted from must be as they were read."""
        if not part.seen:
            return
        d, x = self.catalog.tables["data_file"].c, self.catalog.tables["delete_file"].c
        live: set[int] = set()
        deletes: dict[int, int] = {}
        for some in by_few(sorted(part.seen)):
            files = select(d.data_file_id).where(d.data_file_id.in_(some), d.end_snapshot.is_(None))
            theirs = select(x.data_file_id, x.delete_file_id).where(
                x.table_id == part.table.id, x.data_file_id.in_(some), x.end_snapshot.is_(None)
            )
            live |= set(connection.execute(files).scalars())
            deletes |= dict(connection.execute(theirs).all())
        inlined = self._inlined_deletes(connection, part)
        for id, file in part.seen.items():
            same = deletes.get(id) == (file.delete.id if file.delete else None)
            if id not in live or not same or inlined.get(id, 0) != len(file.inlined_deletes):
                raise _lost(part, "rows of the same file were deleted or rewritten")

    def _inlined_deletes(self, connection: Connection, part: TableDraft) -> dict[int, int]:
        name = f"ducklake_inlined_delete_{part.table.id}"
        if not has_table(self.catalog, connection, name):
            return {}
        t = reflect(self.catalog, connection, name)
        return dict(connection.execute(select(t.c.file_id, func.count()).group_by(t.c.file_id)).all())

    def _check_names(self, connection: Connection, draft: Draft, head: Snapshot) -> None:
        s, t, v = (self.catalog.tables[n] for n in ("schema", "table", "view"))
        schemas = dict(connection.execute(select(s.c.schema_name, s.c.schema_id).where(alive(s, head.id))).all())
        for name in draft.created_schemas:
            if name in schemas:
                raise AlreadyExists(f'schema "{name}" exists already', hint="somebody else created it meanwhile.")
        for name, id in draft.dropped_schemas.items():
            self._check_empty(connection, draft, name, id, head)
        known_tables = {p.table.id for p in draft.tables.values()}
        for part in draft.tables.values():
            fresh = part.before is None or part.before.name != part.table.name
            if not fresh or part.dropped:
                continue
            if part.table.schema not in {*schemas, *draft.created_schemas}:
                raise NotFound(f'schema "{part.table.schema}" was dropped meanwhile', hint="create it again.")
            for catalog_table, column in ((t, t.c.table_name), (v, v.c.view_name)):
                key = catalog_table.c[0]
                taken = connection.execute(
                    select(key).where(
                        alive(catalog_table, head.id),
                        catalog_table.c.schema_id == part.table.schema_id,
                        func.lower(column) == func.lower(part.table.name),
                    )
                ).scalars()
                if set(taken) - known_tables - set(draft.dropped_views):
                    raise AlreadyExists(
                        f'"{part.table.label}" exists already', hint="somebody else created it meanwhile."
                    )

    def _check_empty(self, connection: Connection, draft: Draft, name: str, id: int, head: Snapshot) -> None:
        t = self.catalog.tables["table"]
        left = set(connection.execute(select(t.c.table_id).where(alive(t, head.id), t.c.schema_id == id)).scalars()) - {
            p.table.id for p in draft.tables.values() if p.dropped
        }
        if left:
            raise DependentsExist(f'schema "{name}" is no longer empty', hint="retry with CASCADE.")


_DEFINING = frozenset({"altered_table", "dropped_table"})


def _lost(part: TableDraft, why: str) -> CommitConflict:
    return CommitConflict(
        f'table "{part.table.label}" was changed by another commit',
        detail=f"{why} after this transaction had read it.",
        hint="run the transaction again.",
    )


@dataclass
class Committing:
    """One commit inside the lock."""

    owner: Committer
    connection: Connection
    draft: Draft
    head: Snapshot
    deleting: Deleting
    tokens: list[str] = field(default_factory=list)
    named: set[str] = field(default_factory=set)
    """Paths that the catalog names now."""

    def __post_init__(self) -> None:
        self.catalog = self.owner.catalog
        self.id = self.head.id + 1
        self.now = max(datetime.now(UTC), self.head.time)
        self.catalog_ids = count(self.head.next_catalog_id)
        self.file_ids = count(self.head.next_file_id)
        self.version = self.head.schema_version + (1 if self.draft.changes_definitions else 0)
        self.real: dict[int, int] = {}

    def run(self) -> int:
        rows = entries.DefinitionEntries(self)
        rows.schemas()
        rows.tables()
        rows.views()
        for part in self.draft.tables.values():
            if part.dropped:
                continue
            part.table = replace(part.table, id=self.real.get(part.table.id, part.table.id))
            self._data(part)
        for swap in self.draft.swaps:
            entries.FileEntries(self, TableDraft(swap.table, before=swap.table)).swap(swap)
            self.tokens.append(f"merge_adjacent:{swap.table.id}")
        self._snapshot()
        for rider in self.draft.riders:
            rider(self.connection, self.id)
        return self.id

    def _data(self, part: TableDraft) -> None:
        files = entries.FileEntries(self, part)
        added = {i: f for i, f in part.added.items() if not _gone(f, part.removed.get(i))}
        real = files.add(list(added.items()))
        ended = self._delete(part, files, real)
        files.end(ended | part.ended)
        files.end_inlined()
        files.stats(list(added.values()))
        self._name(part, bool(added), bool(ended or part.ended or part.removed or part.inlined_removed))

    def _delete(self, part: TableDraft, files: entries.FileEntries, real: dict[int, int]) -> set[int]:
        """Write or replace delete files; the ids of files that have no row left."""
        emptied: set[int] = set()
        for file_id, gone in part.removed.items():
            file = part.seen.get(file_id) or part.added.get(file_id)
            if file is None or not len(gone):
                continue
            if is_emptied(file, gone):
                emptied |= {file_id} if file_id >= 0 else set()
                continue
            written = self.deleting.of(part, file, gone, self.id)
            if file.delete is None:
                files.delete(real.get(file_id, file_id), written)
            else:
                files.replace_delete(file, written)
        return emptied

    def _name(self, part: TableDraft, added: bool, removed: bool) -> None:
        id = part.table.id
        if part.moved:
            self.tokens.append(f"rewrite_delete:{id}")
            return
        if added:
            self.tokens.append(f"inserted_into_table:{id}")
        if part.ended or any(len(p) for i, p in part.removed.items() if i >= 0 or i in part.added):
            self.tokens.append(f"deleted_from_table:{id}")
        if part.inlined_removed:
            self.tokens.append(f"inlined_delete:{id}")

    def _snapshot(self) -> None:
        tables, draft = self.catalog.tables, self.draft
        self.connection.execute(
            insert(tables["snapshot"]).values(
                snapshot_id=self.id,
                snapshot_time=self.now,
                schema_version=self.version,
                next_catalog_id=next(self.catalog_ids),
                next_file_id=next(self.file_ids),
            )
        )
        self.connection.execute(
            insert(tables["snapshot_changes"]).values(
                snapshot_id=self.id,
                changes_made=",".join(_unique(self.tokens)),
                author=_author(),
                commit_message=draft.message,
                commit_extra_info=draft.extra_info or json.dumps({"base_snapshot": draft.base.id}),
            )
        )


@cache
def _author() -> str:
    """Who commits; the package's facts are a file that is read and parsed each time they are asked for."""
    return f"trickle/{version('spark-trickle')}"


def _gone(file: DataFile, removed: np.ndarray | None) -> bool:
    return removed is not None and len(removed) >= file.records


def _unique(tokens: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(tokens))
