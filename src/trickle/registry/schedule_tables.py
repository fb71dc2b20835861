"""The tables of the registry that say when stream tables are refreshed, and what holds them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, DateTime, Float, Integer, MetaData, String, Table, Text


def add_schedule_tables(metadata: MetaData) -> None:
    """Leases, gates, watermarks, groups, fuses, reads; and the signal that wakes schedulers."""
    moment = DateTime(timezone=True)
    Table("trickle_signal", metadata, Column("name", String, primary_key=True), Column("number", BigInteger))
    Table("trickle_control", metadata, Column("name", String, primary_key=True), Column("value", Text))
    Table(
        "trickle_lease",
        metadata,
        Column("stream_table_id", BigInteger, primary_key=True, autoincrement=False),
        Column("owner", String, nullable=False),
        Column("until", moment, nullable=False),
    )
    Table(
        "trickle_scheduler",
        metadata,
        Column("owner", String, primary_key=True),
        Column("host", String, nullable=False),
        Column("process", Integer, nullable=False),
        Column("started_at", moment, nullable=False),
        Column("seen_at", moment, nullable=False),
    )
    Table(
        "trickle_gate",
        metadata,
        Column("source", String, primary_key=True),
        Column("gated", Boolean, nullable=False),
        Column("gated_at", moment, nullable=False),
        Column("ungated_at", moment),
        Column("gated_by", String, nullable=False),
    )
    Table(
        "trickle_watermark",
        metadata,
        Column("source", String, primary_key=True),
        Column("watermark", moment, nullable=False),
        Column("advanced_at", moment, nullable=False),
        Column("advanced_by", String, nullable=False),
    )
    Table(
        "trickle_watermark_group",
        metadata,
        Column("name", String, primary_key=True),
        Column("sources", Text, nullable=False),
        Column("tolerance", Float, nullable=False),
        Column("created_at", moment, nullable=False),
    )
    Table(
        "trickle_refresh_group",
        metadata,
        Column("name", String, primary_key=True),
        Column("members", Text, nullable=False),
        Column("created_at", moment, nullable=False),
    )
    Table(
        "trickle_fuse",
        metadata,
        Column("stream_table_id", BigInteger, primary_key=True, autoincrement=False),
        Column("state", String, nullable=False),
        Column("blown_at", moment),
        Column("changed_rows", BigInteger, nullable=False),
        Column("ceiling", Float),
    )
    Table(
        "trickle_read",
        metadata,
        Column("stream_table_id", BigInteger, primary_key=True, autoincrement=False),
        Column("read_at", moment, nullable=False),
    )
