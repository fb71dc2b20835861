"""Definitions in files: read, put in order, compared with what the catalog holds. No Spark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from trickle.cli.definitions.files import Defined, read_folder
from trickle.cli.definitions.plan import plan
from trickle.config import Settings
from trickle.errors import AlreadyExists, NotFound, QueryError
from trickle.lake.location import catalog_at
from trickle.ops.ledger import Ledger
from trickle.ops.options import with_defaults
from trickle.registry.models import SHRANK, Dependency, StreamTable

QUERY = "SELECT id FROM orders"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    catalog = catalog_at(tmp_path, Settings.of())
    catalog.create(str(tmp_path / "data"))
    found = Ledger.at(catalog)
    found.migrate()
    yield found
    catalog.close()


def put(ledger: Ledger, name: str, query: str = QUERY, source: str = "main.orders", **options: object) -> None:
    chosen = with_defaults(options)
    read = (Dependency(source, 1, ("id",), ""),)
    table = StreamTable(0, "main", name, query, "spark", "AUTO", chosen, name, 1, dependencies=read)
    with ledger.catalog.writing() as connection:
        ledger.registry.add(connection, table)


def write(folder: Path, **texts: str) -> list[Defined]:
    for name, text in texts.items():
        (folder / f"{name}.sql").write_text(text)
    return read_folder(str(folder))


def actions(ledger: Ledger, defined: list[Defined], prune: bool = False) -> list[tuple[str, str]]:
    return [(s.name, s.action) for s in plan(ledger, defined, prune).steps]


def test_a_query_is_called_like_its_file_and_sources_come_first(tmp_path: Path) -> None:
    (tmp_path / "sales").mkdir()
    (tmp_path / "sales" / "late.sql").write_text("-- a comment\nSELECT id FROM main.b;")
    found = write(tmp_path, a="SELECT id FROM b", b="CREATE STREAM TABLE b WITH (schedule = '5m') AS " + QUERY)
    assert [d.label for d in found] == ["b", "a", "sales.late"]
    assert dict(found[0].options) == {"schedule": "5m"}


def test_what_defines_no_stream_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        read_folder(str(tmp_path / "nowhere"))
    with pytest.raises(AlreadyExists, match="twice"):
        write(tmp_path, a=QUERY, b="CREATE STREAM TABLE a AS SELECT 1 AS one")
    (tmp_path / "b.sql").unlink()
    with pytest.raises(QueryError, match="Delete"):
        write(tmp_path, c="DELETE FROM orders")


def test_only_what_differs_is_work(tmp_path: Path, ledger: Ledger) -> None:
    put(ledger, "same", "SELECT  id\nFROM orders")
    put(ledger, "other", "SELECT 2 AS two")
    put(ledger, "slow", schedule="1h")
    folder = tmp_path / "streams"
    folder.mkdir()
    timed = f"CREATE STREAM TABLE slow WITH (schedule = '5m') AS {QUERY}"
    defined = write(folder, same=QUERY, other=QUERY, slow=timed, new=QUERY)
    found = plan(ledger, defined)
    assert {s.name: s.action for s in found.steps} == {
        "same": "keep",
        "other": "replace",
        "slow": "alter",
        "new": "create",
    }
    assert next(s.detail for s in found.steps if s.name == "slow") == "schedule: 1h → 5m"
    assert {s.name for s in found.work} == {"other", "slow", "new"}


def test_what_no_file_defines_goes_only_if_told_so_readers_first(tmp_path: Path, ledger: Ledger) -> None:
    put(ledger, "below")
    put(ledger, "above", "SELECT id FROM below", source="trickle.below")
    folder = tmp_path / "streams"
    folder.mkdir()
    assert actions(ledger, write(folder, new=QUERY)) == [("new", "create")]
    assert actions(ledger, write(folder), prune=True) == [("above", "drop"), ("below", "drop"), ("new", "create")]


def test_append_only_that_a_delete_ended_is_declared_all_the_same(tmp_path: Path, ledger: Ledger) -> None:
    put(ledger, "grows", append_only=True)
    [table] = ledger.all()
    ledger.store(table, replace(table, options={**table.options, SHRANK: True}))
    folder = tmp_path / "streams"
    folder.mkdir()
    grows = f"CREATE STREAM TABLE grows WITH (append_only = true) AS {QUERY}"
    assert actions(ledger, write(folder, grows=grows)) == [("grows", "keep")]
