"""The delete files of a draft, written before the catalog is locked, so that nobody waits for them.

A delete file that takes the place of another tells of each row which snapshot deleted it, the new one's id among them.
That is nearly always the one after the newest; where another commit came in between, the file is written again.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np

from . import positions
from .draft import Draft, TableDraft
from .model import DataFile, DeleteFile
from .storage import Storage

MOST_AT_ONCE = 8
"""Delete files that are written at the same time: where storage is far away, each waits for it."""


def is_emptied(file: DataFile, gone: np.ndarray) -> bool:
    """Whether no row of the file is left."""
    already = (file.delete.count if file.delete else 0) + len(file.inlined_deletes)
    return already + len(gone) >= file.records


def replaces_large(draft: Draft) -> bool:
    """Whether a delete file will take the place of one that takes long to write again."""
    return any(file.delete is not None and file.delete.count > positions.FEW for _, file, _ in _worn(draft))


def _worn(draft: Draft) -> Iterator[tuple[TableDraft, DataFile, np.ndarray]]:
    """Files that lose rows and keep others."""
    for part in draft.tables.values():
        for file_id, gone in part.removed.items():
            file = part.seen.get(file_id) or part.added.get(file_id)
            if file is not None and len(gone) and not is_emptied(file, gone):
                yield part, file, gone


@dataclass
class Deleting:
    storage: Storage
    draft: Draft
    expected: int
    """The id that the draft's snapshot should get."""
    _written: dict[int, DeleteFile] = field(default_factory=dict)
    """By data file."""

    def prepare(self) -> None:
        worn = list(_worn(self.draft))

        def write(part: TableDraft, file: DataFile, gone: np.ndarray) -> DeleteFile:
            return self._write(part, file, gone, self.expected)

        with ThreadPoolExecutor(min(MOST_AT_ONCE, len(worn) or 1)) as pool:
            written = list(pool.map(lambda one: write(*one), worn))
        self._written = {file.id: made for (_, file, _), made in zip(worn, written, strict=True)}

    def of(self, part: TableDraft, file: DataFile, gone: np.ndarray, snapshot: int) -> DeleteFile:
        """What names the file's deleted rows in the draft's snapshot, whose id is known by now."""
        written = self._written.get(file.id)
        if written is None or (file.delete is not None and snapshot != self.expected):
            written = self._write(part, file, gone, snapshot)
        return written if file.delete is not None else replace(written, begin=snapshot)

    def _write(self, part: TableDraft, file: DataFile, gone: np.ndarray, snapshot: int) -> DeleteFile:
        table, old = part.table.path, file.delete
        if old is None:
            written = positions.write(self.storage, table, file.path, gone, None)
        else:
            merged, stamps = positions.joined(*positions.read(self.storage, old), gone, snapshot)
            written = positions.write(self.storage, table, file.path, merged, stamps)
            written = replace(written, begin=min(old.begin, int(stamps.min())))
        self.draft.written.append(written.path)
        return written
