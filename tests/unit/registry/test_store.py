"""The registry on a database of its own: definitions, frontiers, history."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy import Connection, create_engine, update

from trickle.errors import CommitConflict, ConfigError
from trickle.registry.models import FAILED, Dependency, Refresh, StreamTable
from trickle.registry.scheduling import Scheduling
from trickle.registry.store import Registry

NOW = datetime(2024, 2, 29, 12, tzinfo=UTC)
TABLE = StreamTable(
    id=0,
    schema="main",
    name="Per Kunde",
    query="SELECT 1",
    dialect="spark",
    refresh_mode="AUTO",
    options={"append_only": True, "cluster_by": ["a"]},
    stored_name="Per Kunde",
    version=1,
    dependencies=(Dependency("main.orders", 7, ("a", "b"), "f00"), Dependency("trickle.up", 8, ("c",), "ba4")),
)


@pytest.fixture
def connection() -> Iterator[Connection]:
    engine = create_engine("sqlite://")
    with engine.connect() as connection:
        yield connection
    engine.dispose()


@pytest.fixture
def registry(connection: Connection) -> Registry:
    registry = Registry(None)
    registry.migrate(connection)
    return registry


def line(table: StreamTable, action: str = "FULL") -> Refresh:
    return Refresh(table.id, table.label, NOW, NOW, action, "", 1, 0, 1, 2.5, 3, 4, "user")


def test_before_it_is_made_there_are_no_stream_tables(connection: Connection) -> None:
    registry = Registry(None)
    assert not registry.exists(connection)
    assert registry.all(connection) == registry.history(connection) == []
    assert registry.find(connection, "main", "x") is None


def test_a_newer_registry_is_refused(connection: Connection, registry: Registry) -> None:
    registry.migrate(connection)
    connection.execute(update(registry.tables["registry"]).values(version=99))
    with pytest.raises(ConfigError, match="99"):
        registry.migrate(connection)


def test_a_definition_comes_back_as_it_was_stored(connection: Connection, registry: Registry) -> None:
    added = registry.add(connection, TABLE)
    [found] = registry.all(connection)
    assert found == replace(added, created_at=found.created_at)
    assert found.options == TABLE.options
    assert found.dependencies == TABLE.dependencies
    assert [d.is_stream_table for d in found.dependencies] == [False, True]
    changed = replace(found, query="SELECT 2", version=2, dependencies=TABLE.dependencies[:1])
    registry.redefine(connection, changed)
    assert registry.find(connection, "main", "Per Kunde") == changed


def test_names_are_found_in_any_case_beyond_ascii(connection: Connection, registry: Registry) -> None:
    registry.add(connection, replace(TABLE, schema="Größen", name="ÜBER"))
    found = registry.find(connection, "GRÖSSEN", "über")
    assert found is not None
    assert found.name == "ÜBER"
    assert registry.find(connection, "main", "über") is None


def test_readers_are_found_by_the_tables_they_read(connection: Connection, registry: Registry) -> None:
    registry.add(connection, TABLE)
    assert [t.name for t in registry.readers(connection, [8, 99])] == ["Per Kunde"]
    assert registry.readers(connection, [9]) == registry.readers(connection, []) == []


def test_an_id_is_not_given_again_while_its_history_stands(connection: Connection, registry: Registry) -> None:
    first = registry.add(connection, TABLE)
    registry.record(connection, line(first))
    registry.remove(connection, first.id)
    second = registry.add(connection, TABLE)
    assert second.id > first.id
    assert registry.history(connection, second.id) == []
    assert len(registry.history(connection)) == 1


def test_an_advance_moves_the_frontier_and_ends_an_error(connection: Connection, registry: Registry) -> None:
    table = registry.add(connection, TABLE)
    registry.mark(connection, table, status=FAILED, last_error="x", errors_in_row=2, pending="query_changed")
    [table] = registry.all(connection)
    registry.advance(connection, table, 10, 12, seen=11)
    [table] = registry.all(connection)
    assert (table.frontier, table.snapshot, table.seen) == (10, 12, 11)
    assert (table.status, table.last_error, table.errors_in_row, table.pending) == ("ACTIVE", "", 0, "")
    registry.advance(connection, table, 20, None, seen=21)
    [table] = registry.all(connection)
    assert (table.frontier, table.snapshot, table.seen) == (20, 12, 21)


def test_work_on_an_older_frontier_or_definition_is_refused(connection: Connection, registry: Registry) -> None:
    table = registry.add(connection, TABLE)
    registry.require(connection, table)
    registry.advance(connection, table, 10, 12, seen=11)
    with pytest.raises(CommitConflict, match="Per Kunde"):
        registry.require(connection, table)
    with pytest.raises(CommitConflict):
        registry.require(connection, replace(table, frontier=10, version=2))
    registry.remove(connection, table.id)
    with pytest.raises(CommitConflict):
        registry.require(connection, replace(table, frontier=10))


def test_the_commit_for_a_data_snapshot_is_the_newest_that_was_seen(connection: Connection, registry: Registry) -> None:
    table = registry.add(connection, TABLE)
    for data, commit in ((10, 11), (20, 21), (20, 25)):
        registry.advance(connection, table, data, commit, seen=commit)
    assert registry.commit_for(connection, table.id, 9, seen=99) is None
    assert registry.commit_for(connection, table.id, 19, seen=99) == 11
    assert registry.commit_for(connection, table.id, 20, seen=24) == 21
    assert registry.commit_for(connection, table.id, 30, seen=99) == 25


def test_history_is_newest_first_and_limited(connection: Connection, registry: Registry) -> None:
    table = registry.add(connection, TABLE)
    for action in ("FULL", "DIFFERENTIAL", "NO_DATA"):
        registry.record(connection, line(table, action))
    assert [h.action for h in registry.history(connection, table.id, 2)] == ["NO_DATA", "DIFFERENTIAL"]
    assert registry.history(connection)[-1] == line(table)


def test_the_newest_line_of_each_is_found_at_once(connection: Connection, registry: Registry) -> None:
    assert Registry(None).last_lines(connection) == {}
    first, second, third = (registry.add(connection, replace(TABLE, name=name)) for name in "abc")
    for table, action in ((first, "FULL"), (second, "FULL"), (first, "NO_DATA")):
        registry.record(connection, line(table, action))
    found = registry.last_lines(connection)
    assert {id: last.action for id, last in found.items()} == {first.id: "NO_DATA", second.id: "FULL"}
    assert registry.last_lines(connection, second.id) == {second.id: found[second.id]}
    assert registry.last_lines(connection, third.id) == {}


def test_of_versions_before_the_oldest_snapshot_the_newest_stays(connection: Connection, registry: Registry) -> None:
    table, other = (registry.add(connection, replace(TABLE, name=name)) for name in "ab")
    for one, snapshots in ((table, (11, 21, 31, 41)), (other, (15,))):
        for snapshot in snapshots:
            registry.advance(connection, one, snapshot - 1, snapshot, seen=snapshot)
    scheduling = Scheduling(registry)
    before = [registry.commit_for(connection, table.id, data, 99) for data in (32, 40, 50)]
    assert scheduling.forget_versions(connection, 5) == 0
    assert scheduling.forget_versions(connection, 32) == 2
    assert [registry.commit_for(connection, table.id, data, 99) for data in (32, 40, 50)] == before == [31, 41, 41]
    assert registry.commit_for(connection, other.id, 50, 99) == 15


def reading(registry: Registry, connection: Connection, name: str, *read: str) -> StreamTable:
    dependencies = tuple(Dependency(source, n, (), "") for n, source in enumerate(read))
    named = replace(TABLE, name=name, stored_name=name, dependencies=dependencies)
    return registry.add(connection, named)


def test_what_a_stream_table_stands_on_is_found_without_the_others(connection: Connection, registry: Registry) -> None:
    low = reading(registry, connection, "low", "main.orders")
    middle = reading(registry, connection, "middle", "trickle.low", "main.orders")
    high = reading(registry, connection, "high", "trickle.middle")
    reading(registry, connection, "aside", "trickle.low")
    assert [t.name for t in registry.below(connection, high)] == ["low", "middle"]
    assert registry.below(connection, low) == []
    assert [t.name for t in registry.readers_of(connection, low)] == ["middle", "aside"]
    assert [t.id for t in registry.stored(connection, ["trickle.middle", "main.orders"])] == [middle.id]


def test_a_circle_is_below_itself(connection: Connection, registry: Registry) -> None:
    one = reading(registry, connection, "one", "trickle.two")
    two = reading(registry, connection, "two", "trickle.one")
    assert registry.below(connection, one) == [one, two] == registry.below(connection, two)


def test_names_are_found_whatever_their_case(connection: Connection, registry: Registry) -> None:
    for name in ("Größe", "GRÖSSER", "plain", "Plain Too"):
        reading(registry, connection, name)
    for asked, found in (("größe", "Größe"), ("grösser", "GRÖSSER"), ("PLAIN", "plain"), ("plain too", "Plain Too")):
        table = registry.find(connection, "MAIN", asked)
        assert table is not None and table.name == found
    assert registry.find(connection, "main", "plai") is None


def test_needed_snapshots_are_frontiers_and_the_commits_that_hold_them(
    connection: Connection, registry: Registry
) -> None:
    low, high = reading(registry, connection, "low"), reading(registry, connection, "high", "trickle.low")
    for frontier, snapshot in ((3, 4), (5, 6), (8, 9)):
        registry.advance(connection, low, frontier, snapshot, frontier)
    registry.advance(connection, high, 5, 7, 6)
    assert registry.needed(connection) == {8, 5, 6}
    held = {registry.commit_for(connection, low.id, 5, 6), registry.commit_for(connection, low.id, 8, 8)}
    assert held == {6}


def test_lessons_are_not_buried_under_refreshes_that_found_nothing(connection: Connection, registry: Registry) -> None:
    table = registry.add(connection, TABLE)
    for action in ("FULL", "DIFFERENTIAL", *["NO_DATA"] * 60, "DIFFERENTIAL", "SKIP"):
        registry.record(connection, line(table, action))
    registry.record(connection, replace(line(table, "FULL"), error="x"))
    assert [h.action for h in registry.lessons(connection, table.id)] == ["DIFFERENTIAL", "DIFFERENTIAL", "FULL"]
    assert len(registry.lessons(connection, table.id, limit=1)) == 2


def test_an_older_registry_gets_the_indexes_and_is_used_before(connection: Connection, registry: Registry) -> None:
    names = [i.name for t in registry.tables.metadata.tables.values() for i in t.indexes if "by_" in str(i.name)]
    for name in names:
        connection.exec_driver_sql(f'DROP INDEX "{name}"')
    connection.execute(update(registry.tables["registry"]).values(version=2))
    older = Registry(None)
    assert older.is_current(connection) and not older.is_migrated(connection)
    older.migrate(connection)
    assert Registry(None).is_migrated(connection)
    made = {row[0] for row in connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'index'")}
    assert set(names) <= made and names


def test_a_registry_without_learning_times_is_read_and_written_until_it_is_migrated(
    connection: Connection, registry: Registry
) -> None:
    added = registry.add(connection, TABLE)
    connection.exec_driver_sql("ALTER TABLE trickle_refresh_history DROP COLUMN learning_ms")
    connection.execute(update(registry.tables["registry"]).values(version=4))
    older = Registry(None)
    told = replace(line(added), learning_ms=1.5)
    older.record(connection, told)
    assert older.history(connection) == older.lessons(connection, added.id) == [replace(told, learning_ms=0.0)]
    assert [n for n, _ in older.lines_after(connection, 0)] == [1]
    assert list(older.lines_since(connection, NOW)) == list(older.last_lines(connection).values())
    older.migrate(connection)
    older.migrate(connection)
    older.record(connection, told)
    assert [h.learning_ms for h in older.history(connection)] == [1.5, 0.0]
