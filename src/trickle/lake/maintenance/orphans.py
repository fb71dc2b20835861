"""Files nobody needs: those the catalog noted for deletion, and those it never knew."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, delete, select

from ...records import Record
from ..foreign import translated
from ..storage import is_local

if TYPE_CHECKING:
    from ..lake import Lake


AT_ONCE = 100
"""Files that are removed before the catalog is told; who is stopped in between finds them gone the next time."""


@dataclass(frozen=True)
class Removed(Record):
    path: str
    bytes: int


def clean_files(lake: Lake, grace_seconds: float | None, dry_run: bool) -> Iterator[Removed]:
    """Remove files noted for deletion longer ago than the grace period, in which readers may finish."""
    table = lake.catalog.tables["files_scheduled_for_deletion"]
    before = datetime.now(UTC) - timedelta(seconds=_grace(lake, grace_seconds))
    with lake.reading() as connection:
        rows = connection.execute(select(table)).all()
    due = [r for r in rows if r.schedule_start <= before]
    for n in range(0, len(due), AT_ONCE):
        some = due[n : n + AT_ONCE]
        paths = [lake.storage.root + r.path if r.path_is_relative else r.path for r in some]
        if not dry_run:
            lake.forget(frozenset(paths))
            for path in paths:
                with translated(f'file "{path}"'):
                    lake.storage.remove(path)
            with lake.catalog.writing() as connection:
                for row in some:
                    connection.execute(
                        delete(table).where(table.c.data_file_id == row.data_file_id, table.c.path == row.path)
                    )
        yield from (Removed(path, 0) for path in paths)


def collect_orphans(lake: Lake, grace_seconds: float | None, dry_run: bool) -> Iterator[Removed]:
    """Remove files that no catalog row names; younger ones may belong to a commit under way."""
    newest = time.time() - _grace(lake, grace_seconds)
    # Listed before the catalog is read: what is committed in between is then found there.
    found = [f for f in lake.storage.walk(lake.storage.root, hidden=True) if f.modified <= newest]
    with lake.reading() as connection:
        named = _named(lake, connection)
    for file in found:
        if file.path not in named and not _belongs(file.path, named):
            if not dry_run:
                with translated(f'file "{file.path}"'):
                    lake.storage.remove(file.path)
            yield Removed(file.path, file.bytes)
    if not dry_run and is_local(lake.storage.root):
        _drop_empty_folders(lake.storage.root, newest)


def _grace(lake: Lake, seconds: float | None) -> float:
    return float(lake.settings["maintenance.grace_seconds"] if seconds is None else seconds)


def _belongs(path: str, named: set[str]) -> bool:
    """A checksum file stands beside the file it speaks of."""
    folder, name = os.path.split(path)
    return name.startswith(".") and name.endswith(".crc") and os.path.join(folder, name[1:-4]) in named


def _named(lake: Lake, connection: Connection) -> set[str]:
    """Every path that a row of the catalog names, of any snapshot."""
    root, tables = lake.storage.root, lake.catalog.tables
    t, s = tables["table"], tables["schema"]
    rows = connection.execute(
        select(t.c.table_id, t.c.path, t.c.path_is_relative, s.c.path, s.c.path_is_relative).join(
            s, s.c.schema_id == t.c.schema_id
        )
    )
    homes: dict[int, set[str]] = {}
    for id, path, relative, schema_path, schema_relative in rows:
        home = root + schema_path if schema_relative else schema_path
        homes.setdefault(id, set()).add(home + path if relative else path)
    named: set[str] = set()
    for kind in ("data_file", "delete_file"):
        c = tables[kind].c
        for table_id, path, relative in connection.execute(select(c.table_id, c.path, c.path_is_relative)):
            named |= {h + path for h in homes.get(table_id, ())} if relative else {path}
    q = tables["files_scheduled_for_deletion"].c
    for path, relative in connection.execute(select(q.path, q.path_is_relative)):
        named.add(root + path if relative else path)
    return named


def _drop_empty_folders(root: str, newest: float) -> None:
    for folder, _, _ in os.walk(root.removeprefix("file://"), topdown=False):
        path = Path(folder)
        if (
            path.name.startswith(("trickle-", "__p", "_temporary", "attempt", "task"))
            or path.parent.name == "_temporary"
        ):
            try:
                if path.stat().st_mtime <= newest:
                    path.rmdir()
            except OSError:
                continue
