"""A catalog as large as wanted: rows of one real table and one real stream table, copied inside the database.

No file stands behind the copies, so they are looked at, decided on and listed, but never read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from sqlalchemy import Connection, Table, func, select, text

import trickle

from ....lake.model import Snapshot
from ....registry.models import StreamTable
from ....registry.store import Registry

LARGE_SHARE = 0.2
"""Of all files that belong to one source."""
COMMIT_FILES = 40
"""Files that one of the copied commits adds."""
HISTORY = 5
"""Lines of the history of each stream table."""
RECENT = 100
"""The frontiers of the copies lie within so many commits of the head."""


@dataclass(frozen=True)
class Size:
    tables: int = 10_000
    """Stream tables; there is one source for ten of them, and every tenth reads another stream table."""
    files: int = 1_000_000

    @property
    def sources(self) -> int:
        return max(2, self.tables // 10)

    @property
    def large_files(self) -> int:
        return max(1, round(self.files * LARGE_SHARE))

    @property
    def commits(self) -> int:
        """The first adds the files of the large source, each other one those of some table."""
        return 1 + -(-(self.files - self.large_files) // COMMIT_FILES)


@dataclass(frozen=True)
class World:
    """The copies in one lake; ids follow each other, so that every row says with what number it goes."""

    db: trickle.Session
    size: Size
    model: StreamTable
    base: Snapshot
    """Before the first copied commit."""

    @classmethod
    def create(cls, db: trickle.Session, size: Size) -> World:
        """Two real tables, and their copies in one transaction."""
        db.sql("CREATE TABLE facts (id BIGINT, kind INT, amount BIGINT)")
        db.append("facts", [{"id": 1, "kind": 1, "amount": 1}])
        model = db.create_stream_table("model", "SELECT kind, count(*) AS n FROM facts GROUP BY kind")
        world = cls(db, size, model, db.lake.head())
        with db.lake.catalog.writing() as connection:
            _Copies(world, connection).run()
        if not db.lake.catalog.is_sqlite:
            with db.lake.catalog.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.execute(text("ANALYZE"))
        return world

    @property
    def head(self) -> int:
        return self.base.id + self.size.commits

    @property
    def first_source(self) -> int:
        """The catalog's id of the first copied source, which is the large one."""
        return self.base.next_catalog_id

    @property
    def first_stored(self) -> int:
        return self.first_source + self.size.sources

    @property
    def first_view(self) -> int:
        return self.first_stored + self.size.tables

    @property
    def large(self) -> str:
        return "facts_0"


@dataclass(frozen=True)
class _Copies:
    world: World
    connection: Connection

    def run(self) -> None:
        self.commits()
        self.tables("facts", "facts", self.world.first_source, self.world.size.sources)
        self.tables(self.world.model.stored_name, "model", self.world.first_stored, self.world.size.tables)
        self.views()
        self.stream_tables()
        self.history()
        self.files()

    @cached_property
    def registry(self) -> Registry:
        return Registry(self.world.db.lake.catalog.schema)

    def catalog(self, name: str) -> Table:
        return self.world.db.lake.catalog.tables[name]

    def commits(self) -> None:
        world, size = self.world, self.world.size
        at, id = f"m.snapshot_id = {world.base.id}", "m.snapshot_id + 1 + i"
        is_last = f"CASE WHEN i = {size.commits - 1} THEN"
        numbers = {
            "next_catalog_id": f"{is_last} {world.first_view + size.tables} ELSE m.next_catalog_id END",
            "next_file_id": f"{is_last} m.next_file_id + {size.files} ELSE m.next_file_id END",
        }
        self.copy(self.catalog("snapshot"), at, size.commits, {"snapshot_id": id} | numbers)
        made = f"'inserted_into_table:' || {self.table_of_commit('i')}"
        self.copy(self.catalog("snapshot_changes"), at, size.commits, {"snapshot_id": id, "changes_made": made})

    def table_of_commit(self, number: str) -> str:
        """The table that a commit adds files to: the large source first, then all others in turn."""
        others = self.world.size.sources + self.world.size.tables - 1
        first = self.world.first_source
        return f"(CASE WHEN {number} = 0 THEN {first} ELSE {first} + 1 + ({number} - 1) % {others} END)"

    def tables(self, name: str, prefix: str, first: int, many: int) -> None:
        t = self.catalog("table")
        id = self.connection.execute(select(t.c.table_id).where(t.c.table_name == name)).scalar_one()
        of, new = f"m.table_id = {id}", {"table_id": f"{first} + i"}
        named = {"table_uuid": self.uuid, "table_name": f"'{prefix}_' || i", "path": f"'{prefix}_' || i || '/'"}
        self.copy(t, of, many, new | named)
        for kind in ("column", "table_stats", "table_column_stats", "schema_versions"):
            self.copy(self.catalog(kind), of, many, new)

    def views(self) -> None:
        v, many, first = self.catalog("view"), self.world.size.tables, self.world.first_view
        id = self.connection.execute(select(v.c.view_id).where(v.c.view_name == "model")).scalar_one()
        named = {"view_id": f"{first} + i", "view_uuid": self.uuid, "view_name": "'model_' || i"}
        self.copy(v, f"m.view_id = {id}", many, named)
        self.copy(self.catalog("tag"), f"m.object_id = {id}", many, {"object_id": f"{first} + i"})

    def stream_tables(self) -> None:
        world, many, id = self.world, self.world.size.tables, self.world.model.id
        names = {"id": "m.id + 1 + i", "name": "'model_' || i", "stored_name": "'model_' || i"}
        moved = {"frontier": self.frontier, "seen": self.frontier, "snapshot": self.frontier}
        self.copy(self.registry.tables["stream_table"], f"m.id = {id}", many, names | moved)
        source = f"(i % {world.size.sources})"
        on_stream = "CASE WHEN i % 10 = 9 THEN"
        read = {
            "stream_table_id": "m.stream_table_id + 1 + i",
            "name": f"{on_stream} 'trickle.model_' || (i - 1) ELSE 'main.facts_' || {source} END",
            "table_id": f"{on_stream} {world.first_stored} + i - 1 ELSE {world.first_source} + {source} END",
        }
        self.copy(self.registry.tables["dependency"], f"m.stream_table_id = {id}", many, read)

    def history(self) -> None:
        many, of = self.world.size.tables, f"m.stream_table_id = {self.world.model.id}"
        moved = {"data_snapshot": self.frontier, "snapshot": self.frontier}
        version = {"stream_table_id": "m.stream_table_id + 1 + i"} | moved
        self.copy(self.registry.tables["version"], of, many, version)
        line = {"stream_table_id": f"m.stream_table_id + 1 + i % {many}", "name": f"'model_' || (i % {many})"} | moved
        self.copy(self.registry.tables["refresh_history"], of, many * HISTORY, line, without="id")

    @property
    def frontier(self) -> str:
        return f"{self.world.head} - i % {RECENT}"

    def files(self) -> None:
        """Those of the large source hold keys that follow each other; so do those of each commit."""
        world, size = self.world, self.world.size
        d, s = self.catalog("data_file"), self.catalog("file_column_stats")
        file = self.connection.execute(select(func.min(d.c.data_file_id))).scalar_one()
        commit = f"(CASE WHEN i < {size.large_files} THEN 0 ELSE 1 + (i - {size.large_files}) / {COMMIT_FILES} END)"
        new = {"data_file_id": f"{world.base.next_file_id} + i", "table_id": self.table_of_commit(commit)}
        begin = {"begin_snapshot": f"{world.base.id} + 1 + {commit}", "path": "'copy-' || i || '.parquet'"}
        self.copy(d, f"m.data_file_id = {file}", size.files, new | begin)
        ranges = {"min_value": "CAST(i * 1000 AS TEXT)", "max_value": "CAST(i * 1000 + 999 AS TEXT)"}
        self.copy(s, f"m.data_file_id = {file} AND m.column_id <= 2", size.files, new | ranges)

    @property
    def uuid(self) -> str:
        return "lower(hex(randomblob(16)))" if self.world.db.lake.catalog.is_sqlite else "gen_random_uuid()"

    def copy(self, table: Table, which: str, many: int, changed: Mapping[str, str], without: str = "") -> None:
        """Rows of `table` that `which` names, once for each i of 0 … many - 1, with some columns changed."""
        names = [c.name for c in table.columns if c.name != without]
        quote = self.connection.dialect.identifier_preparer
        columns = ", ".join(quote.quote(name) for name in names)
        values = ", ".join(changed.get(name, f"m.{quote.quote(name)}") for name in names)
        target = quote.format_table(table)
        self.connection.execute(
            text(
                f"""INSERT INTO {target} ({columns})
                WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {many - 1})
                SELECT {values} FROM {target} m CROSS JOIN n WHERE {which}"""
            )
        )
