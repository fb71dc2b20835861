"""The catalog database of a lake: opened, created, checked, read in one view, written under one lock."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, exc, insert, inspect, select, text, update
from sqlalchemy.engine import make_url
from sqlalchemy.schema import CreateIndex

from .. import errors
from .foreign import translated
from .metadata import SPEC_VERSION, CatalogTables

READABLE_VERSIONS = ("1.0",)


@dataclass(frozen=True)
class Catalog:
    """One DuckLake catalog; `reading` and `writing` are the only ways in."""

    engine: Engine
    tables: CatalogTables
    label: str

    @classmethod
    def sqlite(cls, path: Path, lock_timeout: float) -> Catalog:
        engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": lock_timeout, "check_same_thread": False})
        event.listen(engine, "connect", _prepare_sqlite)
        return cls(engine, CatalogTables.within(None), str(path))

    @classmethod
    def postgres(cls, url: str, schema: str, lock_timeout: float) -> Catalog:
        parsed = make_url(url).set(drivername="postgresql+psycopg")
        options = f"-c lock_timeout={int(lock_timeout * 1000)} -c timezone=UTC"
        engine = create_engine(parsed, connect_args={"options": options}, pool_pre_ping=True)
        return cls(engine, CatalogTables.within(schema), parsed.render_as_string(hide_password=True))

    @property
    def is_sqlite(self) -> bool:
        return self.engine.dialect.name == "sqlite"

    @property
    def schema(self) -> str | None:
        return self.tables.metadata.schema

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One consistent view of the catalog."""
        with translated(f'lake "{self.label}"'), self._connect() as connection:
            self._begin(connection, "BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """The catalog with no other committer beside us; commits at the end, rolls back on an error."""
        with translated(f'lake "{self.label}"'), self._connect() as connection:
            self._begin(connection, "BEGIN IMMEDIATE", "BEGIN ISOLATION LEVEL READ COMMITTED")
            if not self.is_sqlite:
                snapshots = self.tables["snapshot"]
                name = connection.dialect.identifier_preparer.format_table(snapshots)
                connection.exec_driver_sql(f"LOCK TABLE {name} IN SHARE ROW EXCLUSIVE MODE")
            yield connection
            connection.commit()

    @contextmanager
    def _connect(self) -> Iterator[Connection]:
        connection = self.engine.connect()
        try:
            yield connection
        finally:
            connection.close()

    def _begin(self, connection: Connection, sqlite: str, postgres: str) -> None:
        if self.is_sqlite:
            connection.exec_driver_sql(sqlite)
        elif "READ ONLY" in postgres:
            connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)

    def has_lake(self) -> bool:
        """Whether the database holds a DuckLake already; an error if it holds something else under its names."""
        with translated(f'lake "{self.label}"'), self._connect() as connection:
            names = set(inspect(connection).get_table_names(schema=self.schema))
        if "ducklake_metadata" in names:
            return True
        if self.is_sqlite and names:
            raise errors.LakeError(
                f'"{self.label}" is a database, but not a DuckLake catalog',
                detail=f"it holds {', '.join(sorted(names)[:5])}.",
                hint="choose another directory for the lake.",
            )
        return False

    def create(self, data_path: str) -> None:
        """A new, empty lake with schema `main`; losing a race to another creator is fine."""
        if not self.is_sqlite:
            self._create_postgres_schema()
        with translated(f'lake "{self.label}"'), self._connect() as connection:
            self._begin(connection, "BEGIN IMMEDIATE", "")
            if not self.is_sqlite:
                connection.execute(text("SELECT pg_advisory_xact_lock(7813625491)"))
            if inspect(connection).has_table("ducklake_metadata", schema=self.schema):
                return
            self.tables.metadata.create_all(connection, checkfirst=False)
            self._seed(connection, data_path)
            connection.commit()

    def _create_postgres_schema(self) -> None:
        with translated(f'lake "{self.label}"'), self.engine.begin() as connection:
            quoted = connection.dialect.identifier_preparer.quote_identifier(str(self.schema))
            connection.exec_driver_sql(f"CREATE SCHEMA IF NOT EXISTS {quoted}")

    def _seed(self, connection: Connection, data_path: str) -> None:
        tables, now = self.tables, datetime.now(UTC)
        facts = {
            "version": SPEC_VERSION,
            "created_by": "trickle",
            "data_path": data_path,
            "encrypted": "false",
            "data_inlining_row_limit": "0",
        }
        connection.execute(insert(tables["metadata"]), [{"key": k, "value": v} for k, v in facts.items()])
        connection.execute(
            insert(tables["snapshot"]).values(
                snapshot_id=0, snapshot_time=now, schema_version=0, next_catalog_id=1, next_file_id=0
            )
        )
        connection.execute(
            insert(tables["snapshot_changes"]).values(snapshot_id=0, changes_made='created_schema:"main"')
        )
        connection.execute(
            insert(tables["schema"]).values(
                schema_id=0,
                schema_uuid=str(uuid.uuid4()),
                begin_snapshot=0,
                schema_name="main",
                path="main/",
                path_is_relative=True,
            )
        )

    def check(self) -> dict[str, str]:
        """The lake's global facts; refuses another spec version and encrypted lakes."""
        metadata = self.tables["metadata"]
        with self.reading() as connection:
            rows = connection.execute(select(metadata.c.key, metadata.c.value).where(metadata.c.scope.is_(None)))
            facts: dict[str, str] = {r.key: r.value for r in rows}
        version = facts.get("version", "unknown")
        if version not in READABLE_VERSIONS:
            raise errors.LakeError(
                f'lake "{self.label}" has DuckLake version {version}',
                detail=f"this release reads {', '.join(READABLE_VERSIONS)}.",
                hint="upgrade spark-trickle, or migrate the lake with DuckDB's ducklake extension.",
            )
        if facts.get("encrypted", "false") == "true":
            raise errors.LakeError(
                f'lake "{self.label}" is encrypted',
                detail="Spark cannot read Parquet files encrypted by DuckDB.",
                hint="copy it to a lake without encryption.",
            )
        return facts

    def use_wal(self) -> None:
        """Readers and a writer side by side; kept in the file, so said once. A read-only lake stays as it is."""
        with suppress(sqlite3.Error, exc.SQLAlchemyError), self._connect() as connection:
            connection.exec_driver_sql("PRAGMA journal_mode=WAL")

    def add_indexes(self) -> None:
        """Indexes DuckLake lacks; harmless to DuckDB, and skipped where the catalog cannot be written."""
        try:
            with self.writing() as connection:
                for index in self.tables.indexes():
                    connection.execute(CreateIndex(index, if_not_exists=True))
        except errors.TrickleError:
            return

    def move_data(self, data_path: str) -> None:
        """Record where the data lives now, so that DuckDB finds a moved lake too."""
        metadata = self.tables["metadata"]
        with self.writing() as connection:
            connection.execute(
                update(metadata)
                .where(metadata.c.key == "data_path", metadata.c.scope.is_(None))
                .values(value=data_path)
            )

    def close(self) -> None:
        self.engine.dispose()


def _prepare_sqlite(connection: sqlite3.Connection, _record: Any) -> None:
    connection.isolation_level = None  # transactions are begun by us: the driver's own BEGIN is deferred
    connection.execute("PRAGMA synchronous=FULL")
