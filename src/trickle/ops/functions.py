"""User-defined functions: created, replaced, dropped, listed."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import sqlglot
from sqlalchemy import Connection
from sqlglot import exp

from ..errors import AlreadyExists, CycleDetected, DependentsExist, NotFound, QueryError
from ..execute.binding import Binding
from ..execute.functions import is_builtin
from ..execute.transaction import Transaction
from ..plan.functions import Function, Kind, Parameter, hash_of
from ..records import Records
from ..registry.functions import StoredFunction
from ..registry.models import FUNCTION_CHANGED, StreamTable
from ..registry.store import Registry
from ..sql.calls import called
from ..sql.dialects import SparkSql
from ..sql.function_body import check_body
from ..sql.grammar.functions import parameters as read_parameters
from ..sql.names import quote_spark
from .function_record import FunctionRecord
from .pickling import essence, pickled
from .streams import Streams


def listing(streams: Streams) -> Records[FunctionRecord]:
    """Every function, with the stream tables that use it."""
    labels = {t.id: t.label for t in streams.all()}
    with streams.lake.reading() as connection:
        found = streams.registry.functions.all(connection)
        users = {s.function.name: streams.registry.functions.users(connection, s.function.name) for s in found}
    return Records(_record(s, tuple(labels[id] for id in users[s.function.name] if id in labels)) for s in found)


def _record(stored: StoredFunction, used_by: tuple[str, ...]) -> FunctionRecord:
    f = stored.function
    parameters = tuple(f"{p.name} {p.type}".strip() for p in f.parameters)
    return FunctionRecord(
        f.name,
        f.kind.value,
        parameters,
        f.returns,
        f.deterministic,
        f.body,
        stored.version,
        f.hash,
        used_by,
        stored.created_at,
    )


# Create.


@dataclass(frozen=True)
class Wanted:
    """A function as it was asked for."""

    name: str
    body: Callable[..., Any] | str
    returns: str
    parameters: str = ""
    deterministic: bool | None = None
    aggregate: bool = False


def create(streams: Streams, wanted: Wanted, replacing: bool = False, if_not_exists: bool = False) -> FunctionRecord:
    """Store a function; where it takes the place of another, what used that one starts anew."""
    name = wanted.name.casefold()
    _refuse_name(streams, name)
    with streams.lake.reading() as connection:
        before = streams.registry.functions.find(connection, name)
    if before is not None and not replacing and not if_not_exists:
        raise AlreadyExists(f'function "{name}" exists already', hint="use OR REPLACE, or replace=True.")
    if before is None or replacing:
        made = _made(streams, replace(wanted, name=name))
        if before is None or before.function.hash != made.hash:
            _put(streams, made)
    return next(record for record in listing(streams) if record.name == name)


def _refuse_name(streams: Streams, name: str) -> None:
    if not re.fullmatch(r"[^\W\d]\w*", name):
        raise QueryError(f'"{name}" is not a function name', hint="use letters, digits and _.")
    call = sqlglot.parse_one(f"SELECT {quote_spark(name)}(x), {name}(x)", dialect=SparkSql)
    if not all(isinstance(e, exp.Anonymous) for e in call.expressions) or is_builtin(streams.lake)(name):
        raise AlreadyExists(f'"{name}" is a function of SQL itself', hint="choose another name.")


def _made(streams: Streams, wanted: Wanted) -> Function:
    if isinstance(wanted.body, str):
        return _sql_function(streams, wanted, wanted.body)
    return _python_function(wanted, wanted.body)


def _python_function(wanted: Wanted, body: Callable[..., Any]) -> Function:
    if wanted.parameters:
        raise QueryError(f'function "{wanted.name}": Python says its parameters itself', hint="leave parameters out.")
    if not callable(body):
        raise QueryError(f'function "{wanted.name}" is neither Python nor SQL', hint="pass a function or a string.")
    function = Function(
        name=wanted.name,
        kind=Kind.AGGREGATE if wanted.aggregate else Kind.PYTHON,
        parameters=tuple(Parameter(p, "") for p in _parameters(body)),
        returns=wanted.returns,
        body=_source(body),
        deterministic=wanted.deterministic is not False,
        code=pickled(wanted.name, body),
    )
    return replace(function, hash=hash_of(function, essence(body)))


def _parameters(body: Callable[..., Any]) -> list[str]:
    try:
        return list(inspect.signature(body).parameters)
    except ValueError:
        return []  # written in C, says nothing


def _source(body: Callable[..., Any]) -> str:
    try:
        return inspect.cleandoc(inspect.getsource(body))
    except (OSError, TypeError):
        return ""


def _sql_function(streams: Streams, wanted: Wanted, body: str) -> Function:
    if wanted.aggregate:
        raise QueryError(f'function "{wanted.name}": an aggregate has to be a Python function')
    given = read_parameters(wanted.parameters)
    calls = streams.lake.functions(called(body))
    if wanted.name in calls:
        raise CycleDetected(f'function "{wanted.name}" calls itself', hint="break the circle.")
    settled = check_body(wanted.name, body, given, calls)
    if wanted.deterministic and settled:
        raise QueryError(
            f'function "{wanted.name}" is not deterministic', detail=settled, hint="declare it NOT DETERMINISTIC."
        )
    deterministic = not settled if wanted.deterministic is None else wanted.deterministic
    direct = tuple(sorted(calls.keys() & called(body)))
    function = Function(wanted.name, Kind.SQL, given, wanted.returns, body, deterministic, direct)
    _try(streams, function)
    return replace(function, hash=hash_of(function, body))


def _try(streams: Streams, function: Function) -> None:
    """Spark's analyzer has the last word on the body."""
    nulls = ", ".join(f"CAST(NULL AS {p.type}) AS {quote_spark(p.name)}" for p in function.parameters)
    binding = Binding(Transaction.begin(streams.lake))
    source = f" FROM (SELECT {nulls})" if nulls else ""
    binding.run(f"SELECT CAST(({function.body}) AS {function.returns}) AS x{source}", f'function "{function.name}"')
    binding.close()


def _put(streams: Streams, function: Function) -> None:
    with streams.lake.catalog.writing() as connection:
        streams.registry.migrate(connection)
        users = _users(streams.registry, connection, function.name)
        strict = [t.label for t in users if t.refresh_mode in ("DIFFERENTIAL", "IMMEDIATE")]
        if strict and not function.deterministic:
            raise DependentsExist(
                f'function "{function.name}" would no longer be deterministic',
                detail=f"stream tables that are refreshed differentially use it: {', '.join(strict)}.",
                hint="drop them, or set refresh_mode = 'AUTO' on them.",
            )
        streams.registry.functions.put(connection, function)
        for table in users:
            # With a new version: a refresh that is under way, with the old function, must not be committed.
            streams.registry.mark(connection, table, pending=FUNCTION_CHANGED, version=table.version + 1)


# Drop.


def drop(streams: Streams, name: str, if_exists: bool = False) -> None:
    """Forget a function that nothing uses."""
    name = name.casefold()
    with streams.lake.catalog.writing() as connection:
        functions = streams.registry.functions
        found = functions.all(connection)
        if name not in {s.function.name for s in found}:
            if if_exists:
                return
            known = ", ".join(s.function.name for s in found) or "none yet"
            raise NotFound(f'function "{name}" does not exist', hint=f"there are: {known}.")
        users = [f"stream table {t.label}" for t in _users(streams.registry, connection, name)]
        users += [f"function {s.function.name}" for s in found if name in s.function.calls]
        if users:
            raise DependentsExist(
                f'function "{name}" has dependents', detail=f"{', '.join(users)}.", hint="drop them first."
            )
        functions.remove(connection, name)


def _users(registry: Registry, connection: Connection, name: str) -> list[StreamTable]:
    ids = set(registry.functions.users(connection, name))
    return [t for t in registry.all(connection) if t.id in ids] if ids else []
