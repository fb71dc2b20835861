"""What the catalog says before Spark is asked: which sources changed, and by how much."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from ..lake import pieces, snapshots
from ..lake.lake import Lake
from ..lake.model import Snapshot
from ..lake.positions import dead_positions
from . import staged
from .sources import STORED_SCHEMA
from .windows import Window


@dataclass(frozen=True)
class Look:
    target: Snapshot
    windows: Mapping[str, Window]
    unchanged: frozenset[str] = frozenset()
    changed_rows: int = 0
    source_rows: int = 0
    gained: frozenset[str] = frozenset()
    """Sources that only gained rows."""
    lost: frozenset[str] = frozenset()
    """Sources that only lost rows."""
    removed: bool = False
    """A source lost rows, or had some replaced."""
    expired: bool = False
    """The snapshot to go on from is gone."""
    misplaced: bool = False
    """A source may have lost rows in what the stream table had read already."""


def measure(lake: Lake, target: Snapshot, windows: Mapping[str, Window]) -> Look:
    """Which sources changed, and how many rows at most the changes and the sources have."""
    moves: dict[str, tuple[bool, bool]] = {}
    changed_rows, source_rows = 0, 0
    misplaced = False
    with lake.reading() as connection:
        said = _said(lake, connection, windows.values())
        for name, window in windows.items():
            total = lake.record_count(connection, window.table)
            came, went = _sizes(lake, connection, window, said) if window.start is not None else (total, 0)
            source_rows += total
            changed_rows += came + went
            if window.start is not None:
                moves[name] = came > 0, went > 0
            misplaced = misplaced or _misplaced(lake, connection, window)
    unchanged, gained, lost = (
        frozenset(name for name, move in moves.items() if move == kind)
        for kind in ((False, False), (True, False), (False, True))
    )
    removed = any(went for _, went in moves.values())
    return Look(target, windows, unchanged, changed_rows, source_rows, gained, lost, removed, misplaced=misplaced)


def _misplaced(lake: Lake, connection: Connection, window: Window) -> bool:
    """Of tables that others may write."""
    if window.start is None or window.table.schema == STORED_SCHEMA:
        return False
    return lake.placing.is_in_doubt(connection, window.table, window.start.id, window.end.id)


def _said(lake: Lake, connection: Connection, windows: Iterable[Window]) -> Mapping[int, Sequence[int]]:
    """The snapshots that say of themselves that they changed rows of the sources, by table."""
    ranges = [(w.table.id, w.start.id, w.end.id) for w in windows if w.start is not None and w.start.id < w.end.id]
    if not ranges:
        return {}
    ids, starts, ends = zip(*ranges, strict=True)
    made = snapshots.made(lake.catalog, connection, min(starts), max(ends), set(ids))
    return {id: [at for at, changes in made if snapshots.kinds(changes, id) & snapshots.ROWS_CHANGED] for id in ids}


def _sizes(lake: Lake, connection: Connection, window: Window, said: Mapping[int, Sequence[int]]) -> tuple[int, int]:
    """At most so many rows came, and so many went."""
    if window.start is None:
        return 0, 0
    came, went = staged.changed_rows(window.within, window.table) if window.within else (0, 0)
    if not any(window.start.id < at <= window.end.id for at in said.get(window.table.id, ())):
        return came, went
    found, inlined = lake.change_pieces(connection, window.table, window.start.id, window.end.id)
    sizes = [(p.weight, _rows(lake, p)) for p in found] + [(r.weight, len(r.row_ids)) for r in inlined]
    came += sum(n for weight, n in sizes if weight > 0)
    return came, went + sum(n for weight, n in sizes if weight < 0)


def _rows(lake: Lake, piece: pieces.Piece) -> int:
    """At most so many; of deletes exactly so many."""
    dead = _dead(lake, piece)
    return dead if piece.only_deleted else max(1, piece.file.records - dead)


def _dead(lake: Lake, piece: pieces.Piece) -> int:
    """How many deletes count; a file that also names those of other times has to be opened."""
    after, by = piece.dead
    lives = [(d.begin, d.partial_max or d.begin) for d in piece.deletes] + [(at, at) for _, at in piece.inlined]
    is_plain = len(piece.deletes) < 2 and not any(d.moves for d in piece.deletes)
    if is_plain and all(after < first and last <= by for first, last in lives):
        return sum(d.count for d in piece.deletes) + len(piece.inlined) + len(piece.staged)
    return len(dead_positions(lake.storage, piece))
