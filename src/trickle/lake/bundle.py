"""Small files gone through as one: between two merges a table has dozens, and each for itself takes a millisecond."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from ..plan.names import FILE, POSITION
from .model import ROW_ID, WEIGHT
from .picked import picked_values
from .reading import Reading, with_columns
from .scan import STORED_ROW_ID, ScanRequest, added
from .shelf import Shelf, fewest_first
from .within import within


@dataclass(frozen=True)
class Bundle:
    """Pieces of files that have one row group each."""

    request: ScanRequest
    shelf: Shelf
    parts: tuple[Reading, ...]

    @property
    def cost(self) -> int:
        return sum(part.cost for part in self.parts)

    def rows(self) -> pa.Table | None:
        """The rows of all pieces in the table's columns; None if a column is not what its type says."""
        tables = [self._table(part) for part in self.parts]
        whole = [table for table in tables if table is not None]
        if len(whole) < len(tables):
            return None
        data = pa.concat_tables(whole)
        chosen = self._chosen(data)
        rows = data.take(pa.array(chosen))
        known = self._known(rows, chosen)
        names = [c.name for c in self.request.table.columns]
        return with_columns(rows.select(names), {name: known[name] for name in added(self.request)})

    def _table(self, part: Reading) -> pa.Table | None:
        """All rows of a file as the table has them, and their row ids if those are asked for."""

        def made() -> pa.Table | None:
            data = self.shelf.read(part.footer, [0], part.names)
            rows = part.typed(data)
            if rows is None or not self.request.addressed:
                return rows
            return rows.append_column(ROW_ID, part.row_ids(data))

        return self.shelf.whole((part.footer.key, self._shape), made)

    @cached_property
    def _shape(self) -> tuple[object, ...]:
        """What the tables of the files have in common."""
        return (self.request.addressed, *((c.id, c.name, c.type) for c in self.request.table.columns))

    @cached_property
    def _ends(self) -> np.ndarray:
        return np.asarray(np.cumsum([int(part.footer.ends[0]) for part in self.parts]))

    @cached_property
    def _starts(self) -> np.ndarray:
        return np.asarray(np.r_[0, self._ends[:-1]])

    def _chosen(self, data: pa.Table) -> np.ndarray:
        """The numbers of the rows that live, or died where those are meant, within the bounds."""
        named = [(self.request.table.column(b.column), b) for b in fewest_first(self.request.bounds)]
        asked = [(data.column(column.name), bound) for column, bound in named if column is not None]
        found = np.arange(data.num_rows)
        for values, bound in asked[:1]:
            found = np.flatnonzero(within(values, bound))
        counted = self._counted(data.num_rows)
        found = found if counted is None else found[counted[found]]
        for values, bound in asked[1:]:
            found = found[within(picked_values(values, found), bound)]
        return found

    def _counted(self, size: int) -> np.ndarray | None:
        """Which rows count, whatever they hold; None: all."""
        marked = [n for n, part in enumerate(self.parts) if part.piece.only_deleted or len(part.dead)]
        if not marked:
            return None
        counted = np.ones(size, dtype=bool)
        for n in marked:
            part, here = self.parts[n], counted[self._starts[n] : self._ends[n]]
            here[:] = not part.piece.only_deleted
            here[part.dead] = part.piece.only_deleted
        return counted

    def _known(self, rows: pa.Table, chosen: np.ndarray) -> dict[str, np.ndarray | pa.Array]:
        """What is known of each row beside its columns."""
        owner = np.searchsorted(self._ends, chosen, side="right")
        ordinals = np.array([part.ordinal for part in self.parts], np.int64)
        weights = np.array([part.piece.weight for part in self.parts], np.int64)
        known = {FILE: ordinals[owner], POSITION: chosen - self._starts[owner], WEIGHT: weights[owner]}
        return {**known, STORED_ROW_ID: rows.column(ROW_ID)} if self.request.addressed else known
