"""A commit under construction: what a transaction has done so far, as values that it can itself read back."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count

import numpy as np
from sqlalchemy import Connection

from .model import DataFile, Snapshot, Table, View
from .storage import Storage

Rider = Callable[[Connection, int], None]
"""Writes further rows (of `trickle_*` tables) in the commit's own transaction; told the new snapshot's id."""
Requirement = Callable[[Connection, Snapshot], None]
"""Raises `CommitConflict` when what the work stands on is no longer true at the head it is told."""


@dataclass
class TableDraft:
    """One table's part of a commit."""

    table: Table
    before: Table | None
    """As it was; None if this commit creates it."""
    dropped: bool = False
    added: dict[int, DataFile] = field(default_factory=dict)
    """New files by provisional id."""
    removed: dict[int, np.ndarray] = field(default_factory=dict)
    """Positions deleted here, by file id."""
    seen: dict[int, DataFile] = field(default_factory=dict)
    """Committed files that rows are deleted from, as they were read: they must not have changed since."""
    ended: set[int] = field(default_factory=set)
    inlined_removed: dict[str, set[int]] = field(default_factory=dict)
    """Row ids deleted from tables of inlined rows, by the name of that table."""
    moved: bool = False
    """Files were only rewritten: no row changes."""

    def remove(self, file: DataFile, positions: np.ndarray) -> None:
        """Delete positions of a file, committed or new."""
        known = self.removed.get(file.id)
        self.removed[file.id] = positions if known is None else np.union1d(known, positions)
        if file.id >= 0:
            self.seen.setdefault(file.id, file)

    def end(self, file: DataFile) -> None:
        """Every row of the file goes."""
        self.removed.pop(file.id, None)
        if file.id < 0:
            self.added.pop(file.id)
        else:
            self.ended.add(file.id)
            self.seen.setdefault(file.id, file)

    @property
    def inserts(self) -> bool:
        return bool(self.added) and not self.moved

    @property
    def deletes(self) -> bool:
        return bool(self.ended or any(i >= 0 or i in self.added for i in self.removed)) and not self.moved

    @property
    def redefined(self) -> bool:
        return self.before is not None and self.before != self.table and not self.dropped


@dataclass(frozen=True)
class FileSwap:
    """Committed files replaced in place by one that holds the same rows, at every snapshot they were seen."""

    table: Table
    old: tuple[DataFile, ...]
    new: DataFile


@dataclass
class Draft:
    """A transaction's work on top of a base snapshot."""

    base: Snapshot
    tables: dict[int, TableDraft] = field(default_factory=dict)
    created_schemas: dict[str, int] = field(default_factory=dict)
    schema_uuids: dict[str, str] = field(default_factory=lambda: defaultdict(lambda: str(uuid.uuid4())))
    """Of created schemas: known before the commit, because folders may be named by them."""
    dropped_schemas: dict[str, int] = field(default_factory=dict)
    created_views: dict[int, tuple[View, str]] = field(default_factory=dict)
    """Provisional id → the view and its DuckDB text."""
    dropped_views: dict[int, View] = field(default_factory=dict)
    swaps: list[FileSwap] = field(default_factory=list)
    requirements: list[Requirement] = field(default_factory=list)
    riders: list[Rider] = field(default_factory=list)
    message: str | None = None
    extra_info: str | None = None
    written: list[str] = field(default_factory=list)
    """Paths of every file written on the way, for tidying up if the work is given up."""
    _ids: count[int] = field(default_factory=lambda: count(-2, -1))

    def provisional_id(self) -> int:
        return next(self._ids)

    def of(self, table: Table) -> TableDraft:
        """The table's part, begun if need be."""
        if table.id not in self.tables:
            self.tables[table.id] = TableDraft(table, before=table)
        return self.tables[table.id]

    def add_files(self, table: Table, files: Iterable[DataFile]) -> None:
        from dataclasses import replace

        part = self.of(table)
        for file in files:
            id = self.provisional_id()
            part.added[id] = replace(file, id=id)
            self.written.append(file.path)

    @property
    def has_no_data(self) -> bool:
        """Nothing that the lake would see."""
        nothing = not (self.created_schemas or self.dropped_schemas or self.created_views or self.dropped_views)
        return nothing and not self.swaps and not any(_does_something(t) for t in self.tables.values())

    @property
    def is_empty(self) -> bool:
        return self.has_no_data and not self.riders

    @property
    def changes_definitions(self) -> bool:
        return bool(
            self.created_schemas
            or self.dropped_schemas
            or self.created_views
            or self.dropped_views
            or any(t.before is None or t.dropped or t.redefined for t in self.tables.values())
        )

    def discard(self, storage: Storage) -> None:
        """Remove the files of work that was given up."""
        for path in self.written:
            storage.remove(path)
        self.written.clear()


def _does_something(part: TableDraft) -> bool:
    if part.before is None and part.dropped:
        return False
    return bool(
        part.before is None
        or part.dropped
        or part.redefined
        or part.added
        or part.ended
        or part.inlined_removed
        or any(len(p) for p in part.removed.values())
    )
