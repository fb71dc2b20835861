"""DuckLake's catalog tables (spec 1.0) as SQLAlchemy Core values, always qualified by the catalog's schema."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import TIMESTAMP, UUID, VARCHAR, BigInteger, Boolean, Column, Index, MetaData, String, Table, func
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

SPEC_VERSION = "1.0"


class Moment(TypeDecorator[datetime]):
    """A point in time: timestamptz in PostgreSQL, DuckDB's text form in SQLite."""

    impl = String
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "postgresql":
            return dialect.type_descriptor(TIMESTAMP(timezone=True))
        return dialect.type_descriptor(String())

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        if value is None or dialect.name == "postgresql":
            return value
        return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f") + "+00"

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        if value is None or isinstance(value, datetime):
            return value
        return read_moment(value)


def read_moment(text: str) -> datetime:
    """DuckDB's text of a point in time.

    >>> read_moment("2026-11-16 04:49:42.71729+00").isoformat()
    '2026-11-16T04:49:42.717290+00:00'
    """
    head, sign, zone = text, "+", "00"
    for mark in "+-":
        if mark in text[11:]:
            at = text.rindex(mark)
            head, sign, zone = text[:at], mark, text[at + 1 :]
            break
    whole, _, fraction = head.partition(".")
    zone = zone if ":" in zone else f"{zone}:00"
    return datetime.fromisoformat(f"{whole}.{fraction.ljust(6, '0')[:6]}{sign}{zone}").astimezone(UTC)


_INTEGER = BigInteger()
_TEXT = String().with_variant(VARCHAR(), "sqlite")
_UUID = String().with_variant(UUID(as_uuid=False), "postgresql")
_FLAG = Boolean().with_variant(Boolean(create_constraint=False), "sqlite")

_LIFE = ("begin_snapshot", "end_snapshot")
_TABLES: dict[str, tuple[str, ...]] = {
    "metadata": ("key!", "value!", "scope", "scope_id#"),
    "snapshot": ("snapshot_id*", "snapshot_time@", "schema_version#", "next_catalog_id#", "next_file_id#"),
    "snapshot_changes": ("snapshot_id*", "changes_made", "author", "commit_message", "commit_extra_info"),
    "schema": (
        "schema_id*",
        "schema_uuid%",
        *(f"{c}#" for c in _LIFE),
        "schema_name",
        "path",
        "path_is_relative?",
    ),
    "table": (
        "table_id#",
        "table_uuid%",
        *(f"{c}#" for c in _LIFE),
        "schema_id#",
        "table_name",
        "path",
        "path_is_relative?",
    ),
    "view": (
        "view_id#",
        "view_uuid%",
        *(f"{c}#" for c in _LIFE),
        "schema_id#",
        "view_name",
        "dialect",
        "sql",
        "column_aliases",
    ),
    "tag": ("object_id#", *(f"{c}#" for c in _LIFE), "key", "value"),
    "column_tag": ("table_id#", "column_id#", *(f"{c}#" for c in _LIFE), "key", "value"),
    "data_file": (
        "data_file_id*",
        "table_id#",
        *(f"{c}#" for c in _LIFE),
        "file_order#",
        "path",
        "path_is_relative?",
        "file_format",
        "record_count#",
        "file_size_bytes#",
        "footer_size#",
        "row_id_start#",
        "partition_id#",
        "encryption_key",
        "mapping_id#",
        "partial_max#",
    ),
    "file_column_stats": (
        "data_file_id#",
        "table_id#",
        "column_id#",
        "column_size_bytes#",
        "value_count#",
        "null_count#",
        "min_value",
        "max_value",
        "contains_nan?",
        "extra_stats",
    ),
    "file_variant_stats": (
        "data_file_id#",
        "table_id#",
        "column_id#",
        "variant_path",
        "shredded_type",
        "column_size_bytes#",
        "value_count#",
        "null_count#",
        "min_value",
        "max_value",
        "contains_nan?",
        "extra_stats",
    ),
    "delete_file": (
        "delete_file_id*",
        "table_id#",
        *(f"{c}#" for c in _LIFE),
        "data_file_id#",
        "path",
        "path_is_relative?",
        "format",
        "delete_count#",
        "file_size_bytes#",
        "footer_size#",
        "encryption_key",
        "partial_max#",
    ),
    "column": (
        "column_id#",
        *(f"{c}#" for c in _LIFE),
        "table_id#",
        "column_order#",
        "column_name",
        "column_type",
        "initial_default",
        "default_value",
        "nulls_allowed?",
        "parent_column#",
        "default_value_type",
        "default_value_dialect",
    ),
    "table_stats": ("table_id#", "record_count#", "next_row_id#", "file_size_bytes#"),
    "table_column_stats": (
        "table_id#",
        "column_id#",
        "contains_null?",
        "contains_nan?",
        "min_value",
        "max_value",
        "extra_stats",
    ),
    "partition_info": ("partition_id#", "table_id#", *(f"{c}#" for c in _LIFE)),
    "partition_column": ("partition_id#", "table_id#", "partition_key_index#", "column_id#", "transform"),
    "file_partition_value": ("data_file_id#", "table_id#", "partition_key_index#", "partition_value"),
    "files_scheduled_for_deletion": ("data_file_id#", "path", "path_is_relative?", "schedule_start@"),
    "inlined_data_tables": ("table_id#", "table_name", "schema_version#"),
    "column_mapping": ("mapping_id#", "table_id#", "type"),
    "name_mapping": (
        "mapping_id#",
        "column_id#",
        "source_name",
        "target_field_id#",
        "parent_column#",
        "is_partition?",
    ),
    "schema_versions": ("begin_snapshot#", "schema_version#", "table_id#"),
    "macro": ("schema_id#", "macro_id#", "macro_name", *(f"{c}#" for c in _LIFE)),
    "macro_impl": ("macro_id#", "impl_id#", "dialect", "sql", "type"),
    "macro_parameters": (
        "macro_id#",
        "impl_id#",
        "column_id#",
        "parameter_name",
        "parameter_type",
        "default_value",
        "default_value_type",
    ),
    "sort_info": ("sort_id#", "table_id#", *(f"{c}#" for c in _LIFE)),
    "sort_expression": (
        "sort_id#",
        "table_id#",
        "sort_key_index#",
        "expression",
        "dialect",
        "sort_direction",
        "null_order",
    ),
}
"""Column kinds: `*` key, `#` integer, `?` flag, `@` time, `%` uuid, `!` text NOT NULL, else text."""

# DuckLake indexes only the id keys; these make "of a table" a lookup in any catalog. DuckDB ignores them.
_INDEXES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("data_file", ("table_id", "begin_snapshot")),
    ("data_file", ("table_id", "end_snapshot?")),
    ("data_file", ("table_id", "partial_max?")),
    ("delete_file", ("table_id", "data_file_id")),
    ("delete_file", ("table_id", "begin_snapshot")),
    ("delete_file", ("table_id", "partial_max?")),
    ("file_column_stats", ("table_id", "column_id", "data_file_id")),
    ("file_partition_value", ("table_id", "data_file_id")),
    ("table", ("table_id",)),
    ("table", ("table_name~",)),
    ("column", ("table_id",)),
    ("table_stats", ("table_id",)),
    ("table_column_stats", ("table_id",)),
    ("schema_versions", ("table_id",)),
    ("inlined_data_tables", ("table_id",)),
    ("partition_info", ("table_id",)),
    ("sort_info", ("table_id",)),
    ("column_mapping", ("table_id",)),
    ("view", ("view_name~",)),
    ("tag", ("object_id",)),
)
"""Tables with the columns of an index: `?` only rows where the column is not NULL, `~` the column in lower case."""


def _column(spec: str) -> Column[Any]:
    kind = spec[-1] if spec[-1] in "*#?@%!" else ""
    name = spec.rstrip("*#?@%!")
    types: dict[str, Any] = {"*": _INTEGER, "#": _INTEGER, "?": _FLAG, "@": Moment(), "%": _UUID}
    return Column(
        name,
        types.get(kind, _TEXT),
        primary_key=kind == "*",
        autoincrement=False,
        nullable=kind not in ("*", "!"),
    )


@dataclass(frozen=True)
class CatalogTables:
    """The tables of one catalog: `tables["data_file"]` is `<schema>.ducklake_data_file`."""

    metadata: MetaData

    @classmethod
    def within(cls, schema: str | None) -> CatalogTables:
        metadata = MetaData(schema=schema)
        for name, columns in _TABLES.items():
            Table(f"ducklake_{name}", metadata, *map(_column, columns))
        return cls(metadata)

    def __getitem__(self, name: str) -> Table:
        full = f"ducklake_{name}"
        return self.metadata.tables[f"{self.metadata.schema}.{full}" if self.metadata.schema else full]

    def indexes(self) -> Iterator[Index]:
        for name, columns in _INDEXES:
            yield _index(self[name], columns)


def _index(table: Table, columns: tuple[str, ...]) -> Index:
    last = columns[-1].rstrip("?~")
    kept = table.c[last].is_not(None) if columns[-1].endswith("?") else None
    keys = [func.lower(table.c[c[:-1]]) if c.endswith("~") else table.c[c.rstrip("?")] for c in columns]
    name = f"trickle_{table.name.removeprefix('ducklake_')}_by_{last}"
    return Index(name, *keys, sqlite_where=kept, postgresql_where=kept)
