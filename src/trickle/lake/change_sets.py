"""Changes that the driver holds: stream tables that a wave brings over the same range of a source share one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pyspark.sql.types import StructType

from .held import Held, Rows
from .kept import Kept
from .model import Column, Table
from .small_states import HOLDERS


class ChangeSets:
    """The changes read last, by table and range; each with every column that somebody asked for so far."""

    def __init__(self, most_bytes: int) -> None:
        self.kept: Kept[tuple[tuple[Column, ...], Held]] = Kept(most_bytes)

    def get(self, table: Table, start: int, end: int, read: Callable[[Table], Rows]) -> Rows:
        """The change of the table's columns. What a range of snapshots changed stays as it is: deletes that are
        written into it later belong to a later snapshot (`placing`)."""
        key = table.id, start, end
        columns, held = self.kept.get(key) or ((), None)
        if held is None or not set(table.columns) <= set(columns):
            names = {c.name for c in table.columns}
            columns = (*table.columns, *(c for c in columns if c.name not in names))
            found = read(replace(table, columns=columns))
            if not isinstance(found, Held):
                return found if columns == table.columns else read(table)
            held = found
            self._forget_before(table, start)
            self.kept.put(key, (columns, held), HOLDERS * held.rows.nbytes)
        return held if columns == table.columns else _narrowed(held, columns, table)

    def _forget_before(self, table: Table, start: int) -> None:
        """Where a table is followed from a snapshot on, whoever is further behind asks for a longer range."""
        self.kept.forget(lambda key: key[0] == table.id and key[2] <= start)


def _narrowed(held: Held, columns: Sequence[Column], table: Table) -> Held:
    """The table's columns, and what is no column of a table: weights."""
    assert held.schema is not None
    fields, known = {f.name: f for f in held.schema.fields}, {c.name for c in columns}
    names = [*(c.name for c in table.columns), *(n for n in fields if n not in known)]
    return Held(held.rows.select(names), StructType([fields[n] for n in names]))
