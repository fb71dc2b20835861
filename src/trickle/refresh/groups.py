"""What becomes of each group that a change touches: which stored rows go, which come, which must be rescanned."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..delta.state import Storage, steps
from ..plan import FILE, POSITION


@dataclass(frozen=True)
class Groups:
    """The outcome of a change, one row a group (`delta.state.steps.outcome`)."""

    storage: Storage
    found: pa.Table

    @cached_property
    def drifted(self) -> int:
        """Groups that more rows left than were in them."""
        return int(self._flag(steps.DRIFT).sum())

    @cached_property
    def is_stored(self) -> np.ndarray:
        return np.asarray(self.found.column(FILE).is_valid())

    @cached_property
    def to_rescan(self) -> np.ndarray:
        return np.asarray(self._flag(steps.STALE) & self._flag(steps.ALIVE))

    @cached_property
    def next_state(self) -> pa.Table:
        """What merging made of the groups that need no rescan and live on."""
        return self.found.filter(pa.array(self._merged)).select(list(self.storage.stored_labels))

    @property
    def _merged(self) -> np.ndarray:
        return np.asarray(self._flag(steps.ALIVE) & ~self.to_rescan)

    @cached_property
    def keys(self) -> pa.Table:
        """The keys to rescan, each with a number that is its row in `found`."""
        names = [steps.key(n) for n in range(len(self.storage.key or ()))]
        chosen = np.flatnonzero(self.to_rescan)
        columns = [self.found.column(name).take(pa.array(chosen)) for name in names]
        return pa.table([*columns, pa.array(chosen, pa.int64())], names=[*names, steps.NUMBER])

    def settled(self, rescanned: pa.Table | None) -> tuple[pa.Table, np.ndarray]:
        """Rows to add, and the rows of `found` whose stored rows go: only what differs."""
        labels = list(self.storage.stored_labels)
        places, parts = [], []
        if self.storage.strategy != "rescan":
            places.append(np.flatnonzero(self._merged))
            parts.append(self.next_state)
        if rescanned is not None:
            places.append(rescanned.column(steps.NUMBER).to_numpy())
            parts.append(rescanned.select(labels))
        place = np.concatenate(places) if places else np.empty(0, np.int64)
        rows = _joined(parts)
        gone = self.is_stored.copy()
        if rows is None:
            return self.found.slice(0, 0).select([]), np.flatnonzero(gone)
        held = self.found.take(pa.array(place)).select([steps.old(n) for n in range(len(labels))])
        kept = self.is_stored[place] & same_rows(rows, held)
        gone[place[kept]] = False
        return rows.filter(pa.array(~kept)), np.flatnonzero(gone)

    def _flag(self, name: str) -> np.ndarray:
        return np.asarray(self.found.column(name).fill_null(False))

    def where(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """File and position of the stored rows."""
        chosen = self.found.select([FILE, POSITION]).take(pa.array(rows))
        return chosen.column(FILE).to_numpy(), chosen.column(POSITION).to_numpy()


def _joined(parts: list[pa.Table]) -> pa.Table | None:
    if not parts:
        return None
    first, *others = parts
    return pa.concat_tables([first, *(p.rename_columns(first.schema.names).cast(first.schema) for p in others)])


def same_rows(left: pa.Table, right: pa.Table) -> np.ndarray:
    """Row by row: are all values the same, column by column, NULL like NULL and NaN like NaN?"""
    same = np.ones(left.num_rows, dtype=bool)
    for a, b in zip(left.columns, right.columns, strict=True):
        same &= _same(a, b)
    return same


def _same(a: pa.ChunkedArray, b: pa.ChunkedArray) -> np.ndarray:
    if pa.types.is_nested(a.type):
        return _same_nested(a, b)
    if a.type != b.type:
        b = b.cast(a.type)
    equal = pc.equal(a, b).fill_null(False)
    both_null = pc.and_(a.is_null(), b.is_null())
    found = pc.or_(equal, both_null)
    if pa.types.is_floating(a.type):
        both_nan = pc.and_(pc.is_nan(a), pc.is_nan(b)).fill_null(False)
        found = pc.or_(found, both_nan)
    return np.asarray(found)


def _same_nested(a: pa.ChunkedArray, b: pa.ChunkedArray) -> np.ndarray:
    """What Python has no values for (years beyond 9999) counts as different: it is written again."""
    try:
        return np.array([x == y for x, y in zip(a.to_pylist(), b.to_pylist(), strict=True)], dtype=bool)
    except (OverflowError, ValueError):
        return np.zeros(len(a), dtype=bool)
