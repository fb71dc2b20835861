"""File list and prune for 20,000 files ≤ 50 ms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import insert

from ...lake.files import live_files
from ...lake.model import Bound, Table
from .arena import COLUMNS, Arena
from .measure import Contest

FILES = 20_000
ROWS = 10_000
"""Of one file; the keys of a file follow those of the one before."""


def contests(arena: Arena) -> Iterator[Contest]:
    """The catalog's rows alone: no file is there to be opened."""
    lake, files = arena.db.lake, arena.sized(FILES)
    arena.db.sql(f"CREATE TABLE prune_files ({COLUMNS})")
    head = lake.head()
    table = lake.table("main", "prune_files", head)
    assert table is not None
    _list_files(arena, table, head.id, files)
    wanted = tuple(range(0, files * ROWS, max(1, files // 100) * ROWS))

    def prune(bound: Bound) -> None:
        with lake.reading() as connection:
            live_files(lake.catalog, connection, table, head.id, [bound])

    yield Contest("prune 20,000 files (range)", 50, lambda: prune(Bound("id", low=0, high=10 * ROWS)), rounds=21)
    yield Contest("prune 20,000 files (100 keys)", 50, lambda: prune(Bound("id", values=wanted)), rounds=21)


def _list_files(arena: Arena, table: Table, snapshot: int, files: int) -> None:
    catalog = arena.db.lake.catalog
    with catalog.writing() as connection:
        connection.execute(insert(catalog.tables["data_file"]), [_file(table, n, snapshot) for n in range(files)])
        stats = [_stats(table, n, c.id, c.name == "id") for n in range(files) for c in table.columns]
        connection.execute(insert(catalog.tables["file_column_stats"]), stats)


def _file(table: Table, number: int, snapshot: int) -> dict[str, Any]:
    return {
        "data_file_id": 1_000_000 + number,
        "table_id": table.id,
        "begin_snapshot": snapshot,
        "path": f"trickle-{number:036}.parquet",
        "path_is_relative": True,
        "file_format": "parquet",
        "record_count": ROWS,
        "file_size_bytes": 300_000,
        "footer_size": 1_000,
        "row_id_start": number * ROWS,
    }


def _stats(table: Table, number: int, column: int, is_key: bool) -> dict[str, Any]:
    low, high = (number * ROWS, (number + 1) * ROWS - 1) if is_key else (0, 99)
    return {
        "data_file_id": 1_000_000 + number,
        "table_id": table.id,
        "column_id": column,
        "column_size_bytes": 60_000,
        "value_count": ROWS,
        "null_count": 0,
        "min_value": str(low),
        "max_value": str(high),
    }
