"""Deletes that carry another commit's snapshot, put where they belong.

DuckDB that commits a delete to a PostgreSQL catalog, loses the race for the next snapshot and tries again, says so in
the snapshot that it gets; but where a delete file tells of each row since when it is dead, it leaves the snapshot that
it tried first, which is another commit's and may have been read already. A snapshot that says nothing of deletes did
not make them: they belong to a later one, which does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from sqlalchemy import Connection, func, select

from . import positions
from .catalog import Catalog
from .files import by_few, delete_files, next_file
from .kept import Kept
from .model import DataFile, DeleteFile, Move, Table
from .storage import Storage
from .told_deletes import found, found_parts, says, told

Moves = tuple[Move, ...]
_KEPT_BYTES = 4 << 20
_MOVE_BYTES = 200


class Placing:
    """What is to be corrected in the delete files of one lake: found once for each, and remembered."""

    def __init__(self, catalog: Catalog, storage: Storage) -> None:
        self.catalog, self.storage = catalog, storage
        self._kept: Kept[Moves] = Kept(_KEPT_BYTES)
        """By delete file, and by data file for the one that comes after: what was certain once stays so."""

    def files(self, connection: Connection, table: Table, files: list[DataFile], at: int) -> list[DataFile]:
        """The same files for who reads the snapshot."""
        deletes = [(f.id, f.delete) for f in files if f.delete is not None]
        moves = self.moves(connection, table, deletes, at)
        return files if not any(moves.values()) else [_placed(f, moves) for f in files]

    def deletes(
        self, connection: Connection, table: Table, deletes: Mapping[int, Sequence[DeleteFile]], start: int
    ) -> dict[int, list[DeleteFile]]:
        """The same delete files, by data file, for who goes on from the snapshot."""
        pairs = [(id, delete) for id, some in deletes.items() for delete in some]
        moves = self.moves(connection, table, pairs, start)
        return {id: [replace(d, moves=moves.get(d.id, ())) for d in some] for id, some in deletes.items()}

    def is_in_doubt(self, connection: Connection, table: Table, start: int, end: int) -> bool:
        """Whether (start, end] may lack a delete, or show one again, that whoever reads the changes has to see once.

        A file may leave open to which of several snapshots deletes belong, before `start` or after; and a snapshot may
        say that it deleted, while no row died there: its deletes stand in another that says so, too.
        """
        said = frozenset() if self.catalog.is_sqlite else told(self.catalog, connection, table, start, end)
        if not said:
            return False
        x = self.catalog.tables["delete_file"].c
        late = delete_files(self.catalog, connection, table, x.delete_file_id >= next_file(self.catalog, start))
        moves = [move for some in self.moves(connection, table, late, start).values() for move in some]
        if any(move.first <= start < move.last for move in moves):
            return True
        said -= {move.last for move in moves}
        for died in found_parts(self.catalog, connection, self.storage, table, start, end) if said else ():
            said -= died
            if not said:
                break
        return bool(said)

    def moves(
        self, connection: Connection, table: Table, deletes: Iterable[tuple[int, DeleteFile]], at: int
    ) -> dict[int, Moves]:
        """By delete file, of those written after the snapshot: what older ones hold was there when it was read."""
        pairs = list(deletes)
        if self.catalog.is_sqlite or not pairs:
            return {}  # to a SQLite catalog nobody commits a second time
        since = connection.scalar(select(next_file(self.catalog, at))) or 0
        late = [(of, delete) for of, delete in pairs if delete.id >= since]
        known = {delete.id: kept for _, delete in late if (kept := self._kept.get(delete.path)) is not None}
        return known | self._learned(connection, table, [pair for pair in late if pair[1].id not in known])

    def _learned(
        self, connection: Connection, table: Table, deletes: Sequence[tuple[int, DeleteFile]]
    ) -> dict[int, Moves]:
        stamps = {delete.id: positions.stamps(self.storage, delete) for _, delete in deletes}
        silent = _silent(self.catalog, connection, table, {at for some in stamps.values() for at in some})
        found: dict[int, Moves] = {}
        for of, delete in sorted(deletes, key=lambda pair: pair[1].id):
            moves: Moves = ()
            if own := silent.intersection(stamps[delete.id]):
                moves = self._moves_of(connection, table, of, delete, stamps[delete.id], own)
                self._keep(of, moves)
            self._keep(delete.path, moves)
            found[delete.id] = moves
        return found

    def _moves_of(
        self, connection: Connection, table: Table, of: int, delete: DeleteFile, stamps: list[int], silent: set[int]
    ) -> Moves:
        s = self.catalog.tables["snapshot"].c
        written = connection.scalar(select(func.min(s.snapshot_id)).where(s.next_file_id > delete.id))
        if written is None:
            return ()
        first = min(silent)
        known = {move.said: move for move in self._kept.get(of) or () if move.first == move.last}

        def died() -> frozenset[int]:
            return found(self.catalog, connection, self.storage, table, first, written)

        return place(stamps, silent, told(self.catalog, connection, table, first, written), written, known, died)

    def _keep(self, key: int | str, moves: Moves) -> None:
        self._kept.put(key, moves, _MOVE_BYTES * (1 + len(moves)))


def place(
    stamps: Sequence[int],
    silent: Collection[int],
    told: Collection[int],
    written: int,
    known: Mapping[int, Move],
    died: Callable[[], Collection[int]],
) -> Moves:
    """Where the deletes of one file belong whose snapshots are silent about them.

    Who deletes from a data file read all deletes of it before: each belongs to a snapshot before the next stamp, the
    last ones to the snapshot that wrote the file. Where several are left, those in which other rows died are not it.

    >>> place([3, 5], {5}, {3, 8}, 8, {}, set)
    (Move(said=5, first=8, last=8),)
    >>> place([3, 5, 9], {5}, {3, 6, 8, 9}, 9, {}, lambda: {8, 9})
    (Move(said=5, first=6, last=6),)
    >>> place([3, 5, 9], {5}, {3, 6, 8, 9}, 9, {}, set)
    (Move(said=5, first=6, last=8),)
    """
    moves = []
    for n, stamp in enumerate(stamps):
        if stamp not in silent:
            continue
        is_last = n == len(stamps) - 1
        end = written if is_last else stamps[n + 1] - 1
        able = sorted(at for at in told if stamp < at <= end)
        if stamp in known:
            moves.append(known[stamp])
        elif is_last and written in able:
            moves.append(Move(stamp, written, written))
        elif able:
            left = able if len(able) == 1 else sorted(set(able) - set(died())) or able
            moves.append(Move(stamp, left[0], left[-1]))
    return tuple(moves)


def _silent(catalog: Catalog, connection: Connection, table: Table, stamps: Collection[int]) -> set[int]:
    """Snapshots that say nothing of deletes from the table; of those that have expired nobody knows."""
    s, c = catalog.tables["snapshot"], catalog.tables["snapshot_changes"]
    there = select(s.c.snapshot_id, c.c.changes_made).outerjoin_from(s, c, c.c.snapshot_id == s.c.snapshot_id)
    silent: set[int] = set()
    for some in by_few(sorted(stamps)):
        rows = connection.execute(there.where(s.c.snapshot_id.in_(some)))
        silent |= {id for id, text in rows if not says(text or "", table)}
    return silent


def _placed(file: DataFile, moves: Mapping[int, Moves]) -> DataFile:
    if file.delete is None or not moves.get(file.delete.id):
        return file
    return replace(file, delete=replace(file.delete, moves=moves[file.delete.id]))
