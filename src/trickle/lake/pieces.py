"""Which physical rows make up a state or a change.

Every stored row has a life: born at snapshot i, dead at snapshot d (or never). Then
    state(S)      =   rows with i ≤ S < d
    change (A, B] = + rows with A < i ≤ B and B < d
                    − rows with i ≤ A and A < d ≤ B
A snapshot that only rewrote a table (R) moves rows to other files: a file that ended at R did not die, a row born
at R was always there. Both sides of such a move then cancel without being read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .model import DataFile, DeleteFile

NEVER = 1 << 62


@dataclass(frozen=True)
class Life:
    """Rows born in (after, by], but not at one of `moved`; with `moved_too` those as well."""

    after: int
    by: int
    moved: frozenset[int] = frozenset()
    moved_too: bool = False

    def holds(self, born: int) -> bool:
        if born in self.moved:
            return self.moved_too
        return self.after < born <= self.by


@dataclass(frozen=True)
class Piece:
    """Rows of one data file: by life where it mixes several, and by position."""

    file: DataFile
    life: Life | None = None
    """Asked of the embedded snapshot ids; None where the whole file qualifies."""
    deletes: tuple[DeleteFile, ...] = ()
    inlined: tuple[tuple[int, int], ...] = ()
    """(position, snapshot) of deletes kept in the catalog."""
    staged: tuple[int, ...] | np.ndarray = ()
    """Positions deleted by the transaction that is reading."""
    dead: tuple[int, int] = (-1, NEVER)
    """Deletes count when their snapshot lies in (dead[0], dead[1]]."""
    only_deleted: bool = False
    """Take the deleted rows, instead of all others."""
    weight: int = 1

    @property
    def has_deletes(self) -> bool:
        return bool(self.deletes or self.inlined or len(self.staged))


def state(files: Iterable[DataFile], at: int) -> list[Piece]:
    """The pieces of the files that are live at a snapshot."""
    return [state_piece(f, at) for f in files]


def state_piece(file: DataFile, at: int) -> Piece:
    mixed = file.partial_max is not None and file.partial_max > at
    return Piece(
        file,
        life=Life(-1, at) if mixed else None,
        deletes=(file.delete,) if file.delete else (),
        inlined=tuple((p, 0) for p in file.inlined_deletes),
        dead=(-1, at),
    )


def change(
    files: Sequence[DataFile],
    deletes: Mapping[int, Sequence[DeleteFile]],
    inlined: Mapping[int, Sequence[tuple[int, int]]],
    start: int,
    end: int,
    rewrites: frozenset[int],
) -> list[Piece]:
    """The pieces of the net change in (start, end]."""
    found: list[Piece] = []
    for file in files:
        whole = replace(file, end=None) if file.end in rewrites else file
        piece = Piece(whole, deletes=tuple(deletes.get(file.id, ())), inlined=tuple(inlined.get(file.id, ())))
        found += _gained(piece, start, end, rewrites)
        found += _lost(piece, start, end, rewrites)
    return found


def _gained(piece: Piece, start: int, end: int, rewrites: frozenset[int]) -> Iterator[Piece]:
    """+ rows with A < i ≤ B and B < d"""
    if piece.file.end is not None and piece.file.end <= end:
        return
    life = Life(start, end, rewrites)
    if may_hold(piece.file, life):
        yield replace(piece, life=_asked(piece.file, life), dead=(-1, end))


def _lost(piece: Piece, start: int, end: int, rewrites: frozenset[int]) -> Iterator[Piece]:
    """− rows with i ≤ A and A < d ≤ B"""
    life = Life(-1, start, rewrites, moved_too=True)
    if not may_hold(piece.file, life):
        return
    asked = _asked(piece.file, life)
    if piece.file.end is not None and piece.file.end <= end:
        yield replace(piece, life=asked, dead=(-1, start), weight=-1)
    elif piece.has_deletes:
        yield replace(piece, life=asked, dead=(start, end), only_deleted=True, weight=-1)


def may_hold(file: DataFile, life: Life) -> bool:
    """Whether some row of the file can have that life, by what the catalog says."""
    if file.partial_max is None:
        return life.holds(file.begin)
    return (file.begin <= life.by and file.partial_max > life.after) or life.moved_too


def _asked(file: DataFile, life: Life) -> Life | None:
    return life if file.partial_max is not None else None
