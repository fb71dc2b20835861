"""The process in which DuckDB runs: one JSON request per line on stdin, one JSON answer per line on stdout.

A request is {"attach": text, "statements": [text, …]}. The lake is attached before the first statement and
detached after the last, so no lock outlives a request; without one, statements run on DuckDB's own memory.
Started by path, never imported by the engine: Python's sqlite3 and DuckDB's SQLite in one process ignore each
other's locks.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

EXTENSIONS = ("sqlite_scanner", "postgres_scanner", "ducklake")
ORACLE_SETTINGS = (
    "SET TimeZone = 'UTC'",
    "SET threads = 2",
    "SET enable_progress_bar = false",
    "SET disabled_optimizers = 'deliminator,join_filter_pushdown'",
)


def extension(name: str) -> str:
    """The path of an extension that came as a Python package."""
    spec = importlib.util.find_spec(f"duckdb_extension_{name}")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"duckdb_extension_{name} is not installed")
    folder = Path(spec.origin).parent / "extensions" / f"v{duckdb.__version__}"
    return str(folder / f"{name}.duckdb_extension")


def connect() -> duckdb.DuckDBPyConnection:
    offline: dict[str, Any] = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    connection = duckdb.connect(config=offline)
    for name in EXTENSIONS:
        connection.execute(f"LOAD '{extension(name)}'")
    for setting in ORACLE_SETTINGS:
        connection.execute(setting)
    return connection


def encode(table: pa.Table) -> str:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return base64.b64encode(sink.getvalue()).decode()


def answer(connection: duckdb.DuckDBPyConnection, request: dict[str, Any]) -> dict[str, Any]:
    """Every statement's result until the first that fails; a failed request leaves no open transaction."""
    results: list[str] = []
    try:
        if request["attach"]:
            connection.execute(request["attach"])
            connection.execute("USE lake")
        for statement in request["statements"]:
            results.append(encode(connection.execute(statement).to_arrow_table()))
    except duckdb.Error as error:
        return {"results": results, "error": str(error), "kind": type(error).__name__}
    finally:
        release(connection)
    return {"results": results}


def release(connection: duckdb.DuckDBPyConnection) -> None:
    for statement in ("ROLLBACK", "USE memory", "DETACH DATABASE IF EXISTS lake"):
        try:
            connection.execute(statement)
        except duckdb.TransactionException:
            continue


def main() -> None:
    connection = connect()
    for line in sys.stdin:
        print(json.dumps(answer(connection, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
