"""The registry's tables, `trickle_*`, beside DuckLake's in the catalog's database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import BigInteger, Column, DateTime, Float, Index, Integer, MetaData, String, Table, Text, func

from .maintenance import add_maintenance_table
from .schedule_tables import add_schedule_tables

VERSION = 5
TABLES_SINCE = 2
"""The version that brought the newest table that refreshes need; later ones brought indexes, a diary, a column."""
LEARNING_SINCE = 5
"""The version that brought `learning_ms`; an older registry is read and written without it."""


@dataclass(frozen=True)
class RegistryTables:
    metadata: MetaData

    @classmethod
    def within(cls, schema: str | None) -> RegistryTables:
        metadata = MetaData(schema=schema)
        Table("trickle_registry", metadata, Column("version", Integer, nullable=False))
        Table(
            "trickle_stream_table",
            metadata,
            Column("id", BigInteger, primary_key=True, autoincrement=False),
            Column("schema_name", String, nullable=False),
            Column("name", String, nullable=False),
            Column("query", Text, nullable=False),
            Column("dialect", String, nullable=False),
            Column("refresh_mode", String, nullable=False),
            Column("options", Text, nullable=False),
            Column("stored_name", String, nullable=False),
            Column("version", Integer, nullable=False),
            Column("status", String, nullable=False),
            Column("frontier", BigInteger),
            Column("snapshot", BigInteger),
            Column("seen", BigInteger),
            Column("pending", String, nullable=False),
            Column("obstacle", String, nullable=False),
            Column("last_error", Text, nullable=False),
            Column("errors_in_row", Integer, nullable=False),
            Column("created_at", DateTime(timezone=True), nullable=False),
        )
        Table(
            "trickle_dependency",
            metadata,
            Column("stream_table_id", BigInteger, primary_key=True, autoincrement=False),
            Column("name", String, primary_key=True),
            Column("table_id", BigInteger, nullable=False, index=True),
            Column("columns", Text, nullable=False),
            Column("fingerprint", Text, nullable=False),
        )
        Table(
            "trickle_version",
            metadata,
            Column("stream_table_id", BigInteger, primary_key=True, autoincrement=False),
            Column("snapshot", BigInteger, primary_key=True, autoincrement=False),
            Column("data_snapshot", BigInteger, nullable=False),
        )
        Table(
            "trickle_refresh_history",
            metadata,
            Column("id", Integer, primary_key=True, autoincrement=True),
            Column("stream_table_id", BigInteger, nullable=False),
            Column("name", String, nullable=False),
            Column("started_at", DateTime(timezone=True), nullable=False),
            Column("finished_at", DateTime(timezone=True), nullable=False),
            Column("action", String, nullable=False),
            Column("reason", String, nullable=False),
            Column("rows_inserted", BigInteger, nullable=False),
            Column("rows_deleted", BigInteger, nullable=False),
            Column("changed_rows", BigInteger, nullable=False),
            Column("duration_ms", Float, nullable=False),
            Column("data_snapshot", BigInteger),
            Column("snapshot", BigInteger),
            Column("initiated_by", String, nullable=False),
            Column("error", Text, nullable=False),
            Column("learning_ms", Float, nullable=False, server_default="0"),
        )
        add_schedule_tables(metadata)
        add_maintenance_table(metadata)
        found = cls(metadata)
        found._add_indexes()
        return found

    def _add_indexes(self) -> None:
        """One stream table, its readers and its history are found without a look at the others."""
        t, d, h = self["stream_table"].c, self["dependency"].c, self["refresh_history"].c
        Index("trickle_stream_table_by_name", func.lower(t.name))
        Index("trickle_stream_table_by_stored_name", t.stored_name)
        Index("trickle_stream_table_by_refresh_mode", t.refresh_mode)
        Index("trickle_dependency_by_name", d.name)
        Index("trickle_refresh_history_by_table", h.stream_table_id, h.id)
        Index("trickle_refresh_history_by_action", h.stream_table_id, h.action, h.id)

    def __getitem__(self, name: str) -> Table:
        full = f"trickle_{name}"
        return self.metadata.tables[f"{self.metadata.schema}.{full}" if self.metadata.schema else full]


def aware(time: datetime) -> datetime:
    # SQLite keeps no zone; all times of the registry are UTC.
    return time if time.tzinfo else time.replace(tzinfo=UTC)
