"""Changes of tables and views that stream tables stand on: let through, adapted to, or refused."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection

from ..errors import DependentsExist, QueryError, TrickleError
from ..execute.transaction import Transaction
from ..refresh.compile import Compiled, compile_query
from ..refresh.sources import STORED_SCHEMA
from ..registry.models import StreamTable
from ..sql.statement import Name
from .streams import Streams


def check_definitions(streams: Streams, transaction: Transaction, cascade: bool = False) -> None:
    """Ask of every stream table that a change of definitions may concern: does its query still mean the same?"""
    draft = transaction.draft
    if not draft.changes_definitions:
        return
    touched = {id for id, part in draft.tables.items() if part.dropped or part.redefined}
    views = bool(draft.dropped_views)
    refused: list[tuple[StreamTable, str]] = []
    gone: list[StreamTable] = []
    unpublished = {(v.schema, v.name) for v in draft.dropped_views.values()}
    for table in _concerned(streams, touched, views):
        if transaction.find_table(Name(STORED_SCHEMA, table.stored_name)) is None:
            continue  # dropped by this transaction, or by somebody else
        if (table.schema, table.name) in unpublished:
            streams.stage_drop(transaction, table, cascade, gone)
            continue
        if not views and not touched & {d.table_id for d in table.dependencies}:
            continue
        why = _difference(streams, transaction, table)
        if not why:
            continue
        if cascade and any(
            p.dropped and p.table.id in {d.table_id for d in table.dependencies} for p in draft.tables.values()
        ):
            streams.stage_drop(transaction, table, True, gone)
        elif table.options.get("source_ddl", "block") == "block":
            refused.append((table, why))
        else:
            draft.riders.append(_mark(streams, table))
    if refused:
        raise DependentsExist(
            "stream tables depend on what this would change",
            detail="; ".join(f"{t.label}: {why}" for t, why in refused),
            hint="drop them, use CASCADE on DROP, or set source_ddl = 'adapt' on them.",
        )


def _concerned(streams: Streams, touched: set[int], views: bool) -> list[StreamTable]:
    """Who reads one of the tables; with a view gone, anyone. A view that is new is read by nobody yet."""
    if views:
        return streams.all()
    with streams.lake.reading() as connection:
        return streams.registry.readers(connection, touched)


def _mark(streams: Streams, table: StreamTable) -> Callable[[Connection, int], None]:
    def rider(connection: Connection, _: int) -> None:
        streams.registry.mark(connection, table, pending="source_schema_changed")

    return rider


def _difference(streams: Streams, transaction: Transaction, table: StreamTable) -> str:
    """What the change does to the query; empty if nothing."""
    try:
        before = streams.refresher.compiled(table, transaction.base)
    except TrickleError:
        return ""  # its query does not fit the sources as they are: there is nothing to lose
    try:
        float_sums = table.options.get("float_sums", "algebraic") == "algebraic"
        now = compile_query(transaction, table.query, table.dialect, float_sums)
    except TrickleError as error:
        return error.message
    return "" if _means_the_same(before, now) else "its query would mean something else"


def _means_the_same(before: Compiled, now: Compiled) -> bool:
    """The same text over the same columns of the same tables through the same views shows the same."""
    labels = [c.query.labels if c.query else () for c in (before, now)]
    return (
        labels[0] == labels[1]
        and before.construct == now.construct
        and before.views == now.views
        and before.dependencies() == now.dependencies()
    )


def refuse_owned(streams: Streams, name: Name) -> None:
    """A stream table and its stored rows are changed by refreshes alone."""
    if (name.schema or "").casefold() == STORED_SCHEMA:
        raise QueryError(
            f'"{name.label}" belongs to a stream table', hint="change the tables that it reads, or alter its query."
        )
    if streams.exists(name):
        raise QueryError(
            f'"{name.label}" is a stream table',
            hint="use ALTER STREAM TABLE or DROP STREAM TABLE; its rows follow its query.",
        )
