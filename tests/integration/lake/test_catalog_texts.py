"""What DuckDB writes into either catalog is read as DuckDB reads it, and pruned alike in both databases."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from sqlalchemy import Column as SqlColumn
from sqlalchemy import Connection, Integer, MetaData, String, Table, create_engine, insert, select, text
from sqlalchemy import types as sql

from trickle.lake.footer import read_footer
from trickle.lake.model import Bound, Column
from trickle.lake.prune import keeps, sql_condition
from trickle.lake.text import FLOATS, parse, render
from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.lakes import LakeSite
from trickle.testing.postgres_server import PostgresServer

LETTERS = [*"ab ,:=[]{}()'\"\\\n\té😀", "NULL", "null", "x"]
DOCUMENTS = ['{"a": [1, "x,]}"], "b": null}', "null", "1", '"s\'q"', "{}"]
SCALARS: dict[str, tuple[str, Callable[[random.Random], str]]] = {
    "boolean": ("BOOLEAN", lambda r: r.choice(["true", "false"])),
    "int64": ("BIGINT", lambda r: str(r.randint(-(2**63), 2**63 - 1))),
    "uint64": ("UBIGINT", lambda r: str(r.randint(0, 2**64 - 1))),
    "float32": ("FLOAT", lambda r: r.choice(["inf", "-inf", "0.1", "1e30", "-0.0"])),
    "float64": ("DOUBLE", lambda r: r.choice(["inf", "0.1", "1e300", "5e-324", repr(r.uniform(-9, 9))])),
    "decimal(38,10)": ("DECIMAL(38,10)", lambda r: f"{r.randint(-(10**27), 10**27)}.{r.randint(0, 10**10 - 1):010d}"),
    "varchar": ("VARCHAR", lambda r: "".join(r.choice(LETTERS) for _ in range(r.randint(0, 5)))),
    "blob": ("BLOB", lambda r: "".join(f"\\x{r.choice([0, 10, 39, 92, 44, 65, 125, 255]):02X}" for _ in range(3))),
    "date": ("DATE", lambda r: str(date(1, 1, 1) + timedelta(r.randint(0, 3_600_000)))),
    "timestamp": ("TIMESTAMP", lambda r: str(datetime(1, 1, 1) + timedelta(r.uniform(0, 3_600_000)))),
    "timestamptz": ("TIMESTAMPTZ", lambda r: f"{datetime(1, 1, 2) + timedelta(r.uniform(0, 3_600_000))}+00"),
    "json": ("JSON", lambda r: r.choice(DOCUMENTS)),
}
MISREAD_IN_STRUCTS = {"blob", "date", "timestamp", "timestamptz", "float32", "float64", "varchar", "json"}
"""DuckDB 1.5.5 inlines these in a struct as SQL literals, which it cannot read back or reads as other values."""


def random_column(r: random.Random, name: str, depth: int = 0, inside_struct: bool = False) -> Column:
    kind = r.choice(["scalar"] * 3 + ["list", "struct", "map"] * (depth < 3))
    if kind == "list":
        return Column(0, name, "list", children=(random_column(r, "element", depth + 1),))
    if kind == "map":
        return Column(0, name, "map", children=(Column(0, "key", "varchar"), random_column(r, "value", depth + 1)))
    if kind == "struct":
        names = r.sample(["a", "b c", "é", "Z"], r.randint(1, 3))
        return Column(0, name, "struct", children=tuple(random_column(r, n, depth + 1, True) for n in names))
    return Column(0, name, r.choice(sorted(SCALARS.keys() - (MISREAD_IN_STRUCTS if inside_struct else set()))))


def quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def ddl(column: Column) -> str:
    inner = [ddl(child) for child in column.children]
    match column.type:
        case "list":
            return f"{inner[0]}[]"
        case "map":
            return f"MAP({', '.join(inner)})"
        case "struct":
            fields = ", ".join(f'"{c.name}" {t}' for c, t in zip(column.children, inner, strict=True))
            return f"STRUCT({fields})"
    return SCALARS[column.type][0]


def random_value(r: random.Random, column: Column, nullable: bool = True) -> str:
    """A SQL expression of the column's type."""
    if nullable and r.random() < 0.15:
        return f"CAST(NULL AS {ddl(column)})"
    match column.type:
        case "list":
            written = ", ".join(random_value(r, column.children[0]) for _ in range(r.randint(0, 3)))
            return f"CAST([{written}] AS {ddl(column)})"
        case "map":
            keys = dict.fromkeys(random_value(r, column.children[0], False) for _ in range(r.randint(0, 2)))
            written = ", ".join(f"{key}: {random_value(r, column.children[1])}" for key in keys)
            return f"CAST(MAP {{{written}}} AS {ddl(column)})"
        case "struct":
            written = ", ".join(f"{quoted(c.name)}: {random_value(r, c)}" for c in column.children)
            return f"CAST({{{written}}} AS {ddl(column)})"
    type, make = SCALARS[column.type]
    return f"CAST({quoted(make(r))} AS {type})"


def rows_in_catalog(site: LakeSite) -> list[Any]:
    with open_catalog(site) as connection:
        prefix = f"{site.address.schema}." if site.address.schema else ""
        (name,) = connection.execute(text(f"SELECT table_name FROM {prefix}ducklake_inlined_data_tables")).one()
        return list(connection.execute(text(f"SELECT x FROM {prefix}{name} ORDER BY row_id")).scalars())


def open_catalog(site: LakeSite) -> Connection:
    if not site.address.on_postgres:
        return create_engine(f"sqlite:///{site.address.catalog}").connect()
    return create_engine(site.address.catalog.replace("postgresql://", "postgresql+psycopg://")).connect()


def plain(table: pa.Table) -> list[Any]:
    """The only column as Python values, instants in UTC."""
    return [in_utc(value) for value in table.column(0).to_pylist()]


def in_utc(value: Any) -> Any:
    if isinstance(value, datetime) and value.tzinfo:
        return value.astimezone(UTC)
    if isinstance(value, dict):
        return {name: in_utc(v) for name, v in value.items()}
    return type(value)(map(in_utc, value)) if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("seed", range(12))
def test_inlined_values_are_read_as_duckdb_reads_them(lake: LakeSite, peer: DuckDBPeer, seed: int) -> None:
    r = random.Random(seed)
    site = lake
    site.data.mkdir(parents=True, exist_ok=True)
    column = random_column(r, "x")
    peer.run(site.address, f"CREATE TABLE t (x {ddl(column)})")
    peer.run(site.address, *(f"INSERT INTO t VALUES ({random_value(r, column)})" for _ in range(6)))
    expected = plain(peer.run(site.address, "SELECT x FROM t ORDER BY rowid")[0])
    assert [parse(stored, column) for stored in rows_in_catalog(site)] == expected


def test_structs_that_duckdb_inlines_and_cannot_read_back_are_read(lake: LakeSite, peer: DuckDBPeer) -> None:
    # DuckDB is not asked to read it: over PostgreSQL that takes the whole process down.
    lake.data.mkdir(parents=True, exist_ok=True)
    peer.run(lake.address, "CREATE TABLE t (x STRUCT(d DATE))", "INSERT INTO t VALUES ({'d': DATE '2020-01-01'})")
    column = Column(1, "x", "struct", children=(Column(2, "d", "date"),))
    assert [parse(stored, column) for stored in rows_in_catalog(lake)] == [{"d": date(2020, 1, 1)}]


TYPED = (
    "b BOOLEAN, i1 TINYINT, i8 BIGINT, u8 UBIGINT, f FLOAT, d DOUBLE, dc DECIMAL(10,2), dcb DECIMAL(38,10), v VARCHAR, "
    "bl BLOB, da DATE, ts TIMESTAMP, tz TIMESTAMPTZ, ms TIMESTAMP_MS, js JSON, l INT[], s STRUCT(a INT, b VARCHAR), "
    "m MAP(VARCHAR, STRUCT(q DOUBLE[])), ll INT[][]"
)
ROWS = [
    "(true, -1, -4, 18446744073709551615, 'nan', 'nan', -1.5, 12345678901234567890.5, '', '\\xAA\\x00ab', "
    "'2020-01-01', '2020-01-01 01:02:03.1', '2020-01-01 01:02:03.12+05', '2020-01-01 01:02:03.5', '{}', [1, NULL], "
    "{'a': 1, 'b': NULL}, MAP {'x': {'q': [1.0::DOUBLE, 'nan'::DOUBLE]}}, [[1], [], NULL])",
    "(false, 1, 4, 5, 1.5, -0.0, 1.5, -0.5, 'zé', '', '0044-03-15 (BC)', '12020-01-01', 'infinity', '1960-01-01', '1', "
    "[], NULL, NULL, NULL)",
    f"({', '.join(['NULL'] * 19)})",
    "(NULL, NULL, NULL, NULL, 1e8, 'inf', NULL, NULL, NULL, repeat('y', 5000)::BLOB, " + ", ".join(["NULL"] * 9) + ")",
]


def test_footers_of_duckdb_say_what_duckdb_says_of_them(lake: LakeSite, peer: DuckDBPeer) -> None:
    lake.data.mkdir(parents=True, exist_ok=True)
    inserts = [f"INSERT INTO t VALUES {', '.join(ROWS[a:b])}" for a, b in ((0, 2), (2, 3), (0, 4), (3, 4))]
    options = "CALL lake.set_option('data_inlining_row_limit', '0')"
    peer.run(lake.address, options, f"CREATE TABLE t ({TYPED})", *inserts)
    with open_catalog(lake) as connection:
        prefix = f"{lake.address.schema}." if lake.address.schema else ""
        query = (
            f"SELECT column_id, column_name, column_type, parent_column FROM {prefix}ducklake_column ORDER BY column_id"
        )
        columns = tree(connection.execute(text(query)).all())
        files = connection.execute(text(f"SELECT * FROM {prefix}ducklake_data_file")).mappings().all()
        stats = connection.execute(text(f"SELECT * FROM {prefix}ducklake_file_column_stats")).mappings().all()
    assert len(files) == 4
    for file in files:
        footer = read_footer(f"{lake.data}/main/t/{file['path']}", columns)
        assert (footer.records, footer.bytes, footer.footer_bytes) == (
            file["record_count"],
            file["file_size_bytes"],
            file["footer_size"],
        )
        expected = {
            s["column_id"]: (s["value_count"], s["null_count"], s["min_value"], s["max_value"], s["contains_nan"])
            for s in stats
            if s["data_file_id"] == file["data_file_id"]
        }
        found = {s.column_id: (s.value_count, s.null_count, s.min, s.max, s.contains_nan) for s in footer.stats}
        assert found == expected


def tree(rows: Any, parent: int | None = None) -> tuple[Column, ...]:
    return tuple(Column(id, name, type, children=tree(rows, id)) for id, name, type, p in rows if p == parent)


STATS = Table(
    "stats",
    MetaData(),
    SqlColumn("id", Integer),
    SqlColumn("value_count", sql.BigInteger),
    SqlColumn("null_count", sql.BigInteger),
    SqlColumn("min_value", String),
    SqlColumn("max_value", String),
    SqlColumn("contains_nan", sql.Boolean),
)
KINDS: dict[str, Callable[[random.Random], Any]] = {
    "int64": lambda r: r.choice([r.randint(-20, 20), r.randint(-(2**63), 2**63 - 1)]),
    "uint64": lambda r: r.randint(0, 2**64 - 1),
    "float64": lambda r: r.choice([0.1, 1e300, -1e300, float("inf"), r.uniform(-9, 9)]),
    "decimal(38,10)": lambda r: r.randint(-(10**9), 10**9),
    "varchar": lambda r: "".join(r.choice("aAbB _-é😀") for _ in range(r.randint(0, 3))),
    "date": lambda r: date(2020, 1, 1) + timedelta(r.randint(-400, 400)),
    "timestamp": lambda r: datetime(2020, 1, 1) + timedelta(seconds=r.randint(-9, 9), microseconds=r.choice([0, 5])),
    "timestamptz": lambda r: datetime(2020, 1, 1, tzinfo=UTC) + timedelta(seconds=r.randint(-90, 90)),
}


@pytest.mark.postgres
def test_postgres_never_drops_what_the_driver_keeps(postgres: PostgresServer) -> None:
    r = random.Random(1)
    url = postgres.database().replace("postgresql://", "postgresql+psycopg://")
    with create_engine(url).connect() as connection:
        STATS.create(connection)
        pruned = 0
        for type, make in KINDS.items():
            column = Column(1, "c", type)
            files = {n: sorted((make(r), make(r))) for n in range(40)}
            rows = [
                {
                    "id": n,
                    "value_count": 2,
                    "null_count": 0,
                    "min_value": render(low, column),
                    "max_value": render(high, column),
                    "contains_nan": False if type in FLOATS else None,
                }
                for n, (low, high) in files.items()
            ]
            connection.execute(STATS.delete())
            connection.execute(insert(STATS), rows)
            connection.execute(insert(STATS).values(id=99))
            for _ in range(20):
                low, high = sorted((make(r), make(r)))
                for bound in (
                    Bound("c", low, high),
                    Bound("c", low),
                    Bound("c", None, high),
                    Bound("c", values=(low,)),
                ):
                    chosen = select(STATS.c.id).where(sql_condition(bound, column, STATS, "postgresql"))
                    found = set(connection.execute(chosen).scalars())
                    facts = {row["id"]: row for row in rows}
                    kept = {
                        n
                        for n, row in facts.items()
                        if keeps(bound, column, row["min_value"], row["max_value"], 0, 2, row["contains_nan"])
                    }
                    assert kept | {99} <= found
                    pruned += len(files) + 1 - len(found)
    assert pruned > 1000
