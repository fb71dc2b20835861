"""Rows that DuckDB keeps inside the catalog (data inlining): read here, ended here, never written here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from sqlalchemy import (
    DOUBLE_PRECISION,
    REAL,
    UUID,
    BigInteger,
    Boolean,
    Connection,
    Integer,
    LargeBinary,
    MetaData,
    Numeric,
    SmallInteger,
    String,
    and_,
    insert,
    or_,
    select,
)
from sqlalchemy import Column as SqlColumn
from sqlalchemy import Table as SqlTable
from sqlalchemy.types import TypeEngine

from .catalog import Catalog
from .definitions import build_columns
from .files import has_table, reflect
from .model import Column, Table
from .text import decimal_arguments, parse
from .types import to_arrow


@dataclass(frozen=True)
class InlinedRows:
    """Rows of one inlined table, as the table's columns stand at the snapshot that is read."""

    store: str
    """Name of the catalog's table that holds them."""
    row_ids: tuple[int, ...]
    data: pa.Table
    weight: int = 1


def state(catalog: Catalog, connection: Connection, table: Table, at: int) -> list[InlinedRows]:
    """The inlined rows that are live at a snapshot."""
    return _read(catalog, connection, table, lambda t: _alive(t, at), 1)


def change(catalog: Catalog, connection: Connection, table: Table, start: int, end: int) -> list[InlinedRows]:
    """The inlined rows gained and lost in (start, end]."""
    gained = _read(
        catalog,
        connection,
        table,
        lambda t: and_(
            t.c.begin_snapshot > start,
            t.c.begin_snapshot <= end,
            or_(t.c.end_snapshot.is_(None), t.c.end_snapshot > end),
        ),
        1,
    )
    lost = _read(
        catalog,
        connection,
        table,
        lambda t: and_(t.c.begin_snapshot <= start, t.c.end_snapshot > start, t.c.end_snapshot <= end),
        -1,
    )
    return gained + lost


def _alive(t: Any, at: int) -> Any:
    return and_(t.c.begin_snapshot <= at, or_(t.c.end_snapshot.is_(None), t.c.end_snapshot > at))


def _read(catalog: Catalog, connection: Connection, table: Table, condition: Any, weight: int) -> list[InlinedRows]:
    i = catalog.tables["inlined_data_tables"].c
    stores = connection.execute(
        select(i.table_name, i.schema_version).where(i.table_id == table.id).order_by(i.schema_version)
    ).all()
    found = []
    for name, version in stores:
        if not has_table(catalog, connection, name):
            continue
        store = reflect(catalog, connection, name)
        rows = connection.execute(select(store).where(condition(store))).all()
        if rows:
            held = _columns_at(catalog, connection, table, version)
            found.append(_rows(table, name, rows, held, weight))
    return found


def _columns_at(catalog: Catalog, connection: Connection, table: Table, version: int) -> tuple[Column, ...]:
    """The table's columns as they were at a schema version."""
    v, c = catalog.tables["schema_versions"].c, catalog.tables["column"]
    began = connection.execute(
        # DuckDB makes an inlined table late under a version of its own, which changed no column and has no row here.
        select(v.begin_snapshot)
        .where(v.table_id == table.id, v.schema_version <= version)
        .order_by(v.schema_version.desc())
        .limit(1)
    ).scalar()
    at = began if began is not None else table.begin
    rows = connection.execute(
        select(c)
        .where(
            c.c.table_id == table.id,
            c.c.begin_snapshot <= at,
            or_(c.c.end_snapshot.is_(None), c.c.end_snapshot > at),
        )
        .order_by(c.c.column_order)
    ).all()
    return build_columns(rows, {r.column_id: r.begin_snapshot for r in rows})


def _rows(table: Table, store: str, rows: Sequence[Any], held: Sequence[Column], weight: int) -> InlinedRows:
    by_id = {c.id: (n, c) for n, c in enumerate(held)}
    schema = to_arrow(table.columns, table.label)
    arrays = [_array(table, c, field.type, rows, by_id) for c, field in zip(table.columns, schema, strict=True)]
    return InlinedRows(store, tuple(r[0] for r in rows), pa.Table.from_arrays(arrays, schema=schema), weight)


def _array(
    table: Table, column: Column, type: pa.DataType, rows: Sequence[Any], held: dict[int, tuple[int, Column]]
) -> pa.Array:
    if column.id not in held:
        default = None if column.initial_default is None else parse(column.initial_default, column)
        return pa.array([default] * len(rows), type)
    place, old = held[column.id]
    values = [parse(row[3 + place], old) for row in rows]
    return pa.array([_renamed(v, old, column) for v in values], type)


def _renamed(value: Any, old: Column, new: Column) -> Any:
    """A nested value under the names its fields have now."""
    if value is None or not new.children:
        return value
    if new.type == "struct":
        before = {c.id: c for c in old.children}
        return {
            c.name: _renamed(value.get(before[c.id].name), before[c.id], c) if c.id in before else None
            for c in new.children
        }
    if new.type == "list":
        return [_renamed(v, old.children[0], new.children[0]) for v in value]
    pairs = value.items() if isinstance(value, dict) else value
    return [(k, _renamed(v, old.children[1], new.children[1])) for k, v in pairs]


def add_store(catalog: Catalog, connection: Connection, table: Table, version: int) -> None:
    """A new, empty inlined table for the columns, as DuckDB makes one with them, where it would inline rows.

    Made late, at its first small INSERT, DuckDB 1.5.5 misreads it once a column is renamed or added.
    """
    i = catalog.tables["inlined_data_tables"]
    held = connection.execute(select(i.c.table_name).where(i.c.table_id == table.id)).first()
    if held is None and (row_limit(catalog, connection, table) == 0 or not _can_inline(table)):
        return
    name = f"ducklake_inlined_data_{table.id}_{version}"
    fixed = [SqlColumn(n, BigInteger) for n in _FIXED]
    columns = [SqlColumn(c.name, _store_type(c, catalog.is_sqlite)) for c in table.columns]
    SqlTable(name, MetaData(schema=catalog.schema), *fixed, *columns).create(connection)
    connection.execute(insert(i).values(table_id=table.id, table_name=name, schema_version=version))


def row_limit(catalog: Catalog, connection: Connection, table: Table) -> int:
    """Up to how many rows DuckDB inlines: the table's option, the schema's, the lake's, or DuckDB's own default."""
    m = catalog.tables["metadata"].c
    rows = connection.execute(select(m.scope, m.scope_id, m.value).where(m.key == "data_inlining_row_limit")).all()
    said = {(r.scope, r.scope_id): int(r.value) for r in rows}
    for scope in (("table", table.id), ("schema", table.schema_id), (None, None)):
        if scope in said:
            return said[scope]
    return _DEFAULT_LIMIT


def _can_inline(table: Table) -> bool:
    return not {c.name.lower() for c in table.columns} & set(_FIXED)


_FIXED = ("row_id", "begin_snapshot", "end_snapshot")
_DEFAULT_LIMIT = 10
_SQLITE: dict[str, TypeEngine[Any]] = {
    **dict.fromkeys(("boolean", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"), BigInteger()),
    "blob": LargeBinary(),
}
_POSTGRES: dict[str, TypeEngine[Any]] = {
    "boolean": Boolean(),
    **dict.fromkeys(("int8", "int16"), SmallInteger()),
    **dict.fromkeys(("int32", "uint8", "uint16"), Integer()),
    **dict.fromkeys(("int64", "uint32"), BigInteger()),
    "float32": REAL(),
    "float64": DOUBLE_PRECISION(),
    "uuid": UUID(as_uuid=False),
    **dict.fromkeys(("varchar", "json", "blob"), LargeBinary()),
}


def _store_type(column: Column, is_sqlite: bool) -> TypeEngine[Any]:
    """The type under which DuckDB keeps a column in the catalog's database; text for all that has none."""
    if column.type.startswith("decimal") and not is_sqlite:
        return Numeric(*decimal_arguments(column.type))
    return (_SQLITE if is_sqlite else _POSTGRES).get(column.type, String())
