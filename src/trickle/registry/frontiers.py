"""How far stream tables are, on a connection of the catalog."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from sqlalchemy import Connection, Select, Update, bindparam, case, func, insert, select, update

from ..errors import CommitConflict
from .models import ACTIVE, FAILED, SUSPENDED, StreamTable
from .part import Part


class Frontiers(Part):
    """The part of the registry that says for which snapshot each stream table is exact, and how it fares.

    What every refresh asks and says is built once.
    """

    def require(self, connection: Connection, table: StreamTable) -> None:
        """The definition and the frontier must still be what the work started from."""
        frontier, version = self._standing(connection, table)
        if frontier != table.frontier:
            raise _conflict(table, "refreshed")
        if version != table.version:
            raise _conflict(table, "altered or dropped")

    def require_definition(self, connection: Connection, table: StreamTable) -> None:
        if self._standing(connection, table)[1] != table.version:
            raise _conflict(table, "altered or dropped")

    def _standing(self, connection: Connection, table: StreamTable) -> tuple[int | None, int | None]:
        """Its frontier and the version of its definition; nothing where it was dropped."""
        row = connection.execute(self._stands, {"id": table.id}).first()
        return (row.frontier, row.version) if row else (None, None)

    @cached_property
    def _stands(self) -> Select[Any]:
        t = self.tables["stream_table"].c
        return select(t.frontier, t.version).where(t.id == bindparam("id"))

    def advance(
        self, connection: Connection, table: StreamTable, frontier: int, snapshot: int | None, seen: int
    ) -> None:
        """Move the frontier; with a snapshot, the content was written there."""
        if snapshot is not None:
            version = {"stream_table_id": table.id, "snapshot": snapshot, "data_snapshot": frontier}
            connection.execute(insert(self.tables["version"]), version)
        values = {"this": table.id, "to": frontier, "commit": snapshot, "commits_seen": seen}
        connection.execute(self._advances, values)

    @cached_property
    def _advances(self) -> Update:
        t = self.tables["stream_table"]
        values = {
            "frontier": bindparam("to"),
            "snapshot": func.coalesce(bindparam("commit", type_=t.c.snapshot.type), t.c.snapshot),
            "seen": bindparam("commits_seen"),
            "pending": "",
            "last_error": "",
            "errors_in_row": 0,
            "status": case((t.c.status == FAILED, ACTIVE), else_=t.c.status),
        }
        return update(t).where(t.c.id == bindparam("this")).values(**values)

    def fail(self, connection: Connection, table: StreamTable, error: str) -> None:
        """One error more in a row; whoever was suspended meanwhile stays so."""
        c = self.tables["stream_table"].c
        status = case((c.status == SUSPENDED, SUSPENDED), else_=FAILED)
        self.mark(connection, table, status=status, last_error=error, errors_in_row=c.errors_in_row + 1)

    def mark(self, connection: Connection, table: StreamTable, **values: Any) -> None:
        t = self.tables["stream_table"]
        connection.execute(update(t).where(t.c.id == table.id).values(**values))

    def commit_for(self, connection: Connection, id: int, data_snapshot: int, seen: int) -> int | None:
        """The newest commit of a stream table, of those seen, whose data snapshot is not after this one."""
        v = self.tables["version"].c
        kept = select(v.snapshot).where(v.stream_table_id == id, v.data_snapshot <= data_snapshot, v.snapshot <= seen)
        return connection.execute(kept.order_by(v.snapshot.desc()).limit(1)).scalar()

    def needed(self, connection: Connection) -> set[int]:
        """Snapshots that frontiers still read from: their own, and the commits of stream tables that hold them."""
        if not self.exists(connection):
            return set()
        t, d, v = (self.tables[name] for name in ("stream_table", "dependency", "version"))
        source = t.alias()
        held = (
            select(func.max(v.c.snapshot))
            .join(source, source.c.id == v.c.stream_table_id)
            .join(d, func.substr(d.c.name, len("trickle.") + 1) == source.c.stored_name)
            .join(t, t.c.id == d.c.stream_table_id)
            .where(
                d.c.name.startswith("trickle."),
                v.c.data_snapshot <= t.c.frontier,
                v.c.snapshot <= func.coalesce(t.c.seen, t.c.frontier),
            )
            .group_by(t.c.id, source.c.id)
        )
        own = select(t.c.frontier).where(t.c.frontier.is_not(None)).distinct()
        return {*connection.execute(own).scalars(), *connection.execute(held).scalars()}

    def oldest_frontier(self, connection: Connection) -> int | None:
        if not self.exists(connection):
            return None
        return connection.execute(select(func.min(self.tables["stream_table"].c.frontier))).scalar()


def _conflict(table: StreamTable, what: str) -> CommitConflict:
    return CommitConflict(f'stream table "{table.label}" was {what} by somebody else', hint="try it again.")
