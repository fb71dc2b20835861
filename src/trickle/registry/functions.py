"""The user-defined functions of a lake, and which stream tables use them; tables that come with the first function."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    DateTime,
    Integer,
    LargeBinary,
    MetaData,
    Row,
    String,
    Table,
    Text,
    delete,
    insert,
    inspect,
    select,
)

from ..errors import CommitConflict
from ..plan.functions import Function, Functions, Kind, Parameter
from .tables import aware

ReadFunctions = Callable[[Collection[str]], Functions]


@dataclass(frozen=True)
class StoredFunction:
    function: Function
    version: int
    """Grows with every change."""
    created_at: datetime


class FunctionStore:
    """Reads and writes functions, on a connection of the catalog."""

    def __init__(self, schema: str | None) -> None:
        metadata = MetaData(schema=schema)
        self.schema, self.metadata = schema, metadata
        self.functions = Table(
            "trickle_function",
            metadata,
            Column("name", String, primary_key=True),
            Column("kind", String, nullable=False),
            Column("parameters", Text, nullable=False),
            Column("returns", String, nullable=False),
            Column("body", Text, nullable=False),
            Column("deterministic", Boolean, nullable=False),
            Column("calls", Text, nullable=False),
            Column("code", LargeBinary, nullable=False),
            Column("hash", String, nullable=False),
            Column("version", Integer, nullable=False),
            Column("created_at", DateTime(timezone=True), nullable=False),
        )
        self.uses = Table(
            "trickle_function_use",
            metadata,
            Column("stream_table_id", BigInteger, primary_key=True, autoincrement=False),
            Column("name", String, primary_key=True),
            Column("hash", String, nullable=False),
        )
        self._known_to_exist = False

    def exists(self, connection: Connection) -> bool:
        if not self._known_to_exist:
            self._known_to_exist = inspect(connection).has_table("trickle_function", schema=self.schema)
        return self._known_to_exist

    # Functions.

    def all(self, connection: Connection) -> list[StoredFunction]:
        if not self.exists(connection):
            return []
        return [_stored(row) for row in connection.execute(select(self.functions).order_by(self.functions.c.name))]

    def find(self, connection: Connection, name: str) -> StoredFunction | None:
        if not self.exists(connection):
            return None
        row = connection.execute(select(self.functions).where(self.functions.c.name == name)).first()
        return _stored(row) if row else None

    def named(self, connection: Connection, names: Collection[str]) -> dict[str, Function]:
        """The functions of these names, and those that they call."""
        found: dict[str, Function] = {}
        wanted = set(names) if self.exists(connection) else set()
        while wanted:
            rows = connection.execute(select(self.functions).where(self.functions.c.name.in_(sorted(wanted))))
            found |= {row.name: _stored(row).function for row in rows}
            wanted = {name for f in found.values() for name in f.calls} - found.keys() - wanted
        return found

    def reader(self, reading: Callable[[], AbstractContextManager[Connection]]) -> ReadFunctions:
        """The same, on a connection of its own."""

        def read(names: Collection[str]) -> Functions:
            if not names:
                return {}
            with reading() as connection:
                return self.named(connection, names)

        return read

    def put(self, connection: Connection, function: Function) -> StoredFunction:
        """Add a function, or put it in the place of the one of its name."""
        self.metadata.create_all(connection)
        before = self.find(connection, function.name)
        stored = StoredFunction(function, before.version + 1 if before else 1, datetime.now(UTC))
        self.remove(connection, function.name)
        connection.execute(insert(self.functions).values(**_row(stored)))
        return stored

    def remove(self, connection: Connection, name: str) -> None:
        connection.execute(delete(self.functions).where(self.functions.c.name == name))

    # Uses.

    def record(self, connection: Connection, stream_table_id: int, hashes: Mapping[str, str]) -> None:
        """A stream table was computed with these functions, and no others; they must be the same still."""
        if self.hashes(connection, hashes.keys()) != hashes:
            raise CommitConflict("a function was changed by somebody else", hint="run the statement again.")
        self.forget(connection, stream_table_id)
        rows = [{"stream_table_id": stream_table_id, "name": n, "hash": h} for n, h in hashes.items()]
        if rows:
            connection.execute(insert(self.uses), rows)

    def forget(self, connection: Connection, stream_table_id: int) -> None:
        if self.exists(connection):
            connection.execute(delete(self.uses).where(self.uses.c.stream_table_id == stream_table_id))

    def users(self, connection: Connection, name: str) -> list[int]:
        """The stream tables that use a function, by their ids."""
        if not self.exists(connection):
            return []
        query = select(self.uses.c.stream_table_id).where(self.uses.c.name == name)
        return list(connection.execute(query.order_by(self.uses.c.stream_table_id)).scalars())

    def hashes(self, connection: Connection, names: Collection[str]) -> dict[str, str]:
        """What the functions of these names are now."""
        if not names or not self.exists(connection):
            return {}
        f = self.functions.c
        rows = connection.execute(select(f.name, f.hash).where(f.name.in_(sorted(names))))
        return {row.name: row.hash for row in rows}


def _row(stored: StoredFunction) -> dict[str, Any]:
    function = stored.function
    return {
        "name": function.name,
        "kind": function.kind.value,
        "parameters": json.dumps([[p.name, p.type] for p in function.parameters]),
        "returns": function.returns,
        "body": function.body,
        "deterministic": function.deterministic,
        "calls": json.dumps(function.calls),
        "code": function.code,
        "hash": function.hash,
        "version": stored.version,
        "created_at": stored.created_at,
    }


def _stored(row: Row[Any]) -> StoredFunction:
    function = Function(
        name=row.name,
        kind=Kind(row.kind),
        parameters=tuple(Parameter(*pair) for pair in json.loads(row.parameters)),
        returns=row.returns,
        body=row.body,
        deterministic=row.deterministic,
        calls=tuple(json.loads(row.calls)),
        code=row.code,
        hash=row.hash,
    )
    return StoredFunction(function, row.version, aware(row.created_at))
