"""DuckDB with its ducklake extension, as the other client of a lake: the same files, another engine."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import psycopg.conninfo
import pyarrow as pa

from trickle.testing import duckdb_worker
from trickle.testing.rows import Rows, rows_of


class DuckDBError(Exception):
    """DuckDB refused a statement."""

    def __init__(self, message: str, kind: str, done: int) -> None:
        super().__init__(message)
        self.kind = kind
        self.done = done


@dataclass(frozen=True)
class LakeAddress:
    """Where a lake is, in words both engines understand.

    `catalog` is the path of a SQLite file or a PostgreSQL URL; `schema` is the schema there.
    """

    catalog: str
    data_path: str
    schema: str | None = None
    inlining_limit: int | None = None

    @property
    def on_postgres(self) -> bool:
        return self.catalog.startswith("postgresql://")

    def attach(self) -> str:
        """The statement with which DuckDB opens the lake."""
        options = [f"DATA_PATH {quoted(self.data_path)}", "OVERRIDE_DATA_PATH true"]
        if self.schema is not None:
            options.append(f"METADATA_SCHEMA {quoted(self.schema)}")
        if self.inlining_limit is not None:
            options.append(f"DATA_INLINING_ROW_LIMIT {self.inlining_limit}")
        return f"ATTACH {quoted(self._target())} AS lake ({', '.join(options)})"

    def _target(self) -> str:
        if not self.on_postgres:
            return f"ducklake:sqlite:{self.catalog}"
        parts = psycopg.conninfo.conninfo_to_dict(self.catalog)
        return f"ducklake:postgres:{psycopg.conninfo.make_conninfo('', **parts)}"


class DuckDBPeer:
    """A long-lived DuckDB in a process of its own; it holds a lake only while it works on a request."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(duckdb_worker.__file__))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, lake: LakeAddress | None, *statements: str) -> Sequence[pa.Table]:
        """Run the statements in order, on a lake or on DuckDB's own memory, and return the result of each."""
        answer = self._ask({"attach": lake.attach() if lake else "", "statements": list(statements)})
        if "error" in answer:
            raise DuckDBError(answer["error"], answer["kind"], len(answer["results"]))
        return [decode(result) for result in answer["results"]]

    def rows(self, lake: LakeAddress | None, query: str) -> Rows:
        """The result of one query as a multiset."""
        return rows_of(self.run(lake, query)[0])

    def scalar(self, lake: LakeAddress | None, query: str) -> Any:
        """The one value of a query."""
        return self.run(lake, query)[0].column(0)[0].as_py()

    def close(self) -> None:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        stdin.close()
        self._process.wait(30)
        stdout.close()

    def __enter__(self) -> DuckDBPeer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        stdin.write(json.dumps(request) + "\n")
        stdin.flush()
        line = stdout.readline()
        if not line:
            raise DuckDBError(f"DuckDB died with code {self._process.wait()}", "ProcessDied", 0)
        answer: dict[str, Any] = json.loads(line)
        return answer


def decode(result: str) -> pa.Table:
    with pa.ipc.open_stream(base64.b64decode(result)) as reader:
        return reader.read_all()


def quoted(text: str) -> str:
    """A string literal.

    >>> quoted("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"
