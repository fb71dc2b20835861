"""Writing and ending catalog rows within a commit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, update

if TYPE_CHECKING:
    from ..commit import Committing

_SIMPLE = re.compile(r"^[A-Za-z0-9_]+$")


def quoted(*names: str) -> str:
    """Names as `changes_made` spells them.

    >>> quoted("main", 'we"ird')
    '"main"."we""ird"'
    """
    return ".".join('"' + n.replace('"', '""') + '"' for n in names)


def folder_of(name: str, id: str) -> str:
    """The folder of a new schema or table: its name, if that is plain."""
    return f"{name}/" if _SIMPLE.match(name) else f"{id}/"


class Rows:
    """Rows of one commit."""

    def __init__(self, commit: Committing) -> None:
        self.commit = commit
        self.connection = commit.connection
        self.tables_ = commit.catalog.tables

    def put(self, name: str, rows: Sequence[dict[str, Any]]) -> None:
        if rows:
            self.connection.execute(insert(self.tables_[name]), list(rows))

    def end(self, name: str, **where: Any) -> None:
        """Close the rows in force that match."""
        table = self.tables_[name]
        self.connection.execute(
            update(table)
            .where(table.c.end_snapshot.is_(None), *(table.c[k] == v for k, v in where.items()))
            .values(end_snapshot=self.commit.id)
        )
