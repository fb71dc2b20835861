"""The history of refreshes, on a connection of the catalog."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import takewhile
from typing import Any

from sqlalchemy import Column, Connection, Row, Select, func, insert, select

from .models import Refresh
from .part import Part
from .tables import LEARNING_SINCE, aware

PAGE = 1000
"""Lines that are read at once."""


class History(Part):
    """The part of the registry that is a diary."""

    def record(self, connection: Connection, line: Refresh) -> None:
        h = self.tables["refresh_history"]
        values = {f: getattr(line, f) for f in line.__dataclass_fields__}
        connection.execute(insert(h), {c.name: values[c.name] for c in self._columns(connection) if c.name in values})

    def _columns(self, connection: Connection) -> list[Column[Any]]:
        """Those of the history that the catalog has."""
        has_learning = self.version(connection) >= LEARNING_SINCE
        return [c for c in self.tables["refresh_history"].c if has_learning or c.name != "learning_ms"]

    def _lines(self, connection: Connection) -> Select[Any]:
        return select(*self._columns(connection))

    def history(self, connection: Connection, id: int | None = None, limit: int = 20) -> list[Refresh]:
        """The newest lines first."""
        if not self.exists(connection):
            return []
        h = self.tables["refresh_history"]
        query = self._lines(connection).order_by(h.c.id.desc()).limit(limit)
        if id is not None:
            query = query.where(h.c.stream_table_id == id)
        return [_refresh(r) for r in connection.execute(query)]

    def lessons(self, connection: Connection, id: int, limit: int = 30) -> list[Refresh]:
        """The newest lines of a stream table that computed something, of each kind so many; newest first."""
        h = self.tables["refresh_history"]
        own = self._lines(connection).where(h.c.stream_table_id == id, h.c.error == "")
        own = own.order_by(h.c.id.desc()).limit(limit)
        kinds = ("DIFFERENTIAL", "FULL", "REINITIALIZE")
        rows = [row for kind in kinds for row in connection.execute(own.where(h.c.action == kind))]
        return [_refresh(row) for row in sorted(rows, key=lambda row: -row.id)]

    def newest_line(self, connection: Connection) -> int:
        """The number of the newest line of the history; 0 if there is none."""
        if not self.exists(connection):
            return 0
        return int(connection.execute(select(func.max(self.tables["refresh_history"].c.id))).scalar() or 0)

    def lines_after(self, connection: Connection, number: int) -> Iterator[tuple[int, Refresh]]:
        """The lines of the history after a number, oldest first, in pages."""
        h = self.tables["refresh_history"]
        lines = self._lines(connection).order_by(h.c.id).limit(PAGE) if self.exists(connection) else None
        while lines is not None:
            rows = connection.execute(lines.where(h.c.id > number)).all()
            yield from ((row.id, _refresh(row)) for row in rows)
            if len(rows) < PAGE:
                return
            number = rows[-1].id

    def lines_since(self, connection: Connection, time: datetime, id: int | None = None) -> Iterator[Refresh]:
        """The lines of what ended since a time, newest first, in pages."""
        h = self.tables["refresh_history"]
        if not self.exists(connection):
            return
        query = self._lines(connection).order_by(h.c.id.desc()).limit(PAGE)
        query = query if id is None else query.where(h.c.stream_table_id == id)
        number: int | None = None
        while True:
            rows = connection.execute(query if number is None else query.where(h.c.id < number)).all()
            yield from takewhile(lambda line: line.finished_at >= time, map(_refresh, rows))
            if len(rows) < PAGE or aware(rows[-1].finished_at) < time:
                return
            number = rows[-1].id

    def last_lines(self, connection: Connection, id: int | None = None) -> dict[int, Refresh]:
        """The newest line of each stream table, or of one."""
        if not self.exists(connection):
            return {}
        t, h = self.tables["stream_table"], self.tables["refresh_history"]
        lines = h.alias()
        newest = select(func.max(lines.c.id)).where(lines.c.stream_table_id == t.c.id).scalar_subquery()
        wanted = select(newest) if id is None else select(newest).where(t.c.id == id)
        rows = connection.execute(self._lines(connection).where(h.c.id.in_(wanted.select_from(t))))
        return {r.stream_table_id: _refresh(r) for r in rows}


def _refresh(row: Row[Any]) -> Refresh:
    values = {name: value for name, value in row._mapping.items() if name != "id"}
    return Refresh(**{**values, "started_at": aware(row.started_at), "finished_at": aware(row.finished_at)})
