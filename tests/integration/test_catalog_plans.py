"""What is asked of the catalog on every refresh is answered by an index, in a catalog of any size."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, event

from trickle.lake import inlined
from trickle.lake.catalog import Catalog
from trickle.lake.changes import change_pieces
from trickle.lake.definitions import Definitions
from trickle.lake.model import Column, Snapshot, Table
from trickle.lake.placing import Placing
from trickle.lake.storage import Storage
from trickle.registry.models import Dependency, StreamTable
from trickle.registry.store import Registry

NOW = Snapshot(9, None, 1, 1, 1)  # type: ignore[arg-type]
COLUMNS = (Column(1, "id", "int64"),)
TABLE = Table(7, "u", 0, "main", "facts", "", COLUMNS, 1)
READER = StreamTable(
    3, "main", "per", "", "spark", "AUTO", {}, "per", 1, dependencies=(Dependency("trickle.low", 8, (), ""),)
)


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    found = Catalog.sqlite(tmp_path / "catalog.sqlite", 5)
    found.create("data/")
    found.add_indexes()
    with found.writing() as connection:
        Registry(None).migrate(connection)
    yield found
    found.close()


def plans(catalog: Catalog, connection: Connection) -> list[str]:
    """The steps of all queries from now on, as SQLite plans them."""
    steps: list[str] = []

    def explain(_: object, cursor: object, statement: str, parameters: object, *more: object) -> None:
        if statement.startswith(("SELECT", "WITH")):
            rows = connection.connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
            steps.extend(row[3] for row in rows)

    event.listen(catalog.engine, "before_cursor_execute", explain)
    return steps


SMALL = (
    "trickle_registry",
    "trickle_gate",
    "trickle_watermark_group",
    "trickle_fuse",
    "ducklake_schema",
    "touched",
    "below",
    "anon",
)
"""Tables with few rows, and results of other steps."""


def test_no_step_of_a_refresh_walks_through_a_whole_table(catalog: Catalog) -> None:
    registry = Registry(None)
    with catalog.reading() as connection:
        steps = plans(catalog, connection)
        registry.find(connection, "main", "Per")
        registry.below(connection, READER)
        registry.readers_of(connection, READER)
        registry.readers(connection, [7])
        registry.in_mode(connection, "IMMEDIATE")
        registry.commit_for(connection, 3, 5, 6)
        registry.lessons(connection, 3)
        registry.history(connection, 3)
        change_pieces(catalog, connection, Placing(catalog, Storage("data/")), TABLE, 3, 9)
        inlined.change(catalog, connection, TABLE, 3, 9)
        Definitions(catalog, "").table(connection, NOW, "main", "facts")
        Definitions(catalog, "").view(connection, NOW, "main", "per")
    walks = [s for s in steps if s.startswith("SCAN") and not any(name in s for name in SMALL)]
    assert len(steps) > 25 and walks == []
