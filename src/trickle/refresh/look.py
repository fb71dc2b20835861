"""What the catalog says before Spark is asked: which sources changed, and by how much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from ..lake import pieces
from ..lake.changes import change_pieces
from ..lake.lake import Lake
from ..lake.model import Snapshot
from . import staged
from .windows import Window


@dataclass(frozen=True)
class Look:
    target: Snapshot
    windows: Mapping[str, Window]
    unchanged: frozenset[str] = frozenset()
    changed_rows: int = 0
    source_rows: int = 0
    removed: bool = False
    """A source lost rows, or had some replaced."""
    expired: bool = False
    """The snapshot to go on from is gone."""


def measure(lake: Lake, target: Snapshot, windows: Mapping[str, Window]) -> Look:
    """Which sources changed, and how many rows at most the changes and the sources have."""
    unchanged, changed_rows, source_rows, removed = set(), 0, 0, False
    with lake.reading() as connection:
        for name, window in windows.items():
            total = lake.record_count(connection, window.table)
            came, went = _sizes(lake, connection, window) if window.start is not None else (total, 0)
            source_rows += total
            changed_rows += came + went
            removed = removed or went > 0
            if came + went == 0 and window.start is not None:
                unchanged.add(name)
    return Look(target, windows, frozenset(unchanged), changed_rows, source_rows, removed)


def _sizes(lake: Lake, connection: Connection, window: Window) -> tuple[int, int]:
    """At most so many rows came, and so many went."""
    if window.start is None:
        return 0, 0
    came, went = staged.changed_rows(window.within, window.table) if window.within else (0, 0)
    if window.start.id == window.end.id:
        return came, went
    found, inlined = change_pieces(lake.catalog, connection, window.table, window.start.id, window.end.id)
    sizes = [(p.weight, _most_rows(p)) for p in found] + [(r.weight, len(r.row_ids)) for r in inlined]
    came += sum(n for weight, n in sizes if weight > 0)
    return came, went + sum(n for weight, n in sizes if weight < 0)


def _most_rows(piece: pieces.Piece) -> int:
    if piece.only_deleted:
        return sum(d.count for d in piece.deletes) + len(piece.inlined) + len(piece.staged)
    return piece.file.records
