"""Stream tables that read one another in a circle: found, allowed or refused, closed by ALTER."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import networkx as nx
from sqlalchemy import Connection

from ..errors import CycleDetected, DependentsExist
from ..execute import ddl
from ..execute.transaction import Transaction
from ..lake.draft import Draft
from ..lake.foreign import translated
from ..lake.model import Snapshot
from ..refresh import intermediates
from ..refresh.compile import Compiled, compile_query
from ..refresh.solution import Part, Solution, circle_of
from ..refresh.sources import STORED_SCHEMA, Point
from ..refresh.stopwatch import Stopwatch
from ..refresh.stored import Fit
from ..refresh.windows import Window
from ..registry.models import StreamTable
from ..sql.statement import Name
from .ledger import members

if TYPE_CHECKING:
    from .streams import Streams


def check(streams: Streams, table: StreamTable, compiled: Compiled) -> None:
    """A query that would close a circle: refused, unless circles are allowed and this one has a fixpoint."""
    wanted = replace(table, dependencies=compiled.dependencies())
    circle = members(wanted, streams.below(wanted))
    if not circle:
        return
    if not streams.lake.settings["streams.allow_circular"]:
        raise CycleDetected(
            f'stream table "{table.label}" would read itself',
            detail=_trail(wanted, circle),
            hint='break the circle, or allow circles with the setting "streams.allow_circular".',
        )
    known = [t for t in circle if t.id != table.id]
    changed = Part(wanted, compiled, streams.refresher.stored(table, streams.lake.head()))
    circle_of([changed, *parts(streams, known)])


def _trail(table: StreamTable, circle: Sequence[StreamTable]) -> str:
    """The way round: each name is read by the next one."""
    by_stored = {t.stored: t for t in circle}
    read = {t.id: [by_stored[d.name].id for d in t.dependencies if d.name in by_stored] for t in circle}
    graph = nx.DiGraph((source, reader) for reader, sources in read.items() for source in sources)
    around = [min((nx.shortest_path(graph, table.id, source) for source in read[table.id]), key=len)]
    labels = {t.id: t.label for t in circle}
    return " → ".join([*(labels[id] for id in around[0]), table.label])


def parts(streams: Streams, circle: Sequence[StreamTable]) -> list[Part]:
    """The members as they are."""
    head, refresher = streams.lake.head(), streams.refresher
    return [Part(t, refresher.compiled(t, head).entire, refresher.stored(t, head)) for t in circle]


def of(streams: Streams, table: StreamTable) -> list[StreamTable]:
    """The circle that a stream table stands in."""
    return streams.circle(table)


def close(streams: Streams, before: StreamTable, table: StreamTable, target: Snapshot, watch: Stopwatch) -> None:
    """Give a stream table the query that closes a circle: all members are computed anew, in one commit."""
    others = [t for t in of(streams, table) if t.id != table.id]
    transaction = Transaction.begin(streams.lake)
    try:
        with translated(f'stream table "{table.label}"'):
            parts = _reshaped(streams, transaction, [table, *others], target)
            windows = _windows(streams, parts, Point(target.id, transaction.base.id))
            solution = Solution(streams.lake, parts, windows, f"{streams.refresher.prefix}_f{table.id}")
            found = solution.anew()
            changed = [solution.fill(transaction, part, found) for part in parts]
            for part in parts:
                intermediates.drop_all(transaction, part.table)
    except BaseException:
        transaction.draft.discard(streams.lake.storage)
        raise
    _commit(streams, transaction, before, parts, target, changed, watch)


def _reshaped(
    streams: Streams, transaction: Transaction, circle: Sequence[StreamTable], target: Snapshot
) -> list[Part]:
    """The members as they will be: the first is the changed one, which may need a stored table with other columns."""
    table, refresher = circle[0], streams.refresher
    content = refresher.content(table, _compiled(transaction, table), target, transaction.base)
    stored = refresher.stored(table, transaction.base)
    fit = content.fit(transaction, stored)
    if fit is Fit.NONE:
        raise DependentsExist(
            f'stream table "{table.label}" has dependents',
            detail=f"its columns change: {', '.join(t.label for t in circle[1:])}.",
            hint="keep its columns and their types, or drop the others first.",
        )
    if fit is Fit.SHOWN:
        view = transaction.find_view(Name(table.schema, table.name))
        if view is not None:
            transaction.draft.dropped_views[view.id] = view
        ddl.drop(transaction, stored)
        content.create(transaction, fill=False)
    return [Part(t, _compiled(transaction, t), transaction.table(Name(STORED_SCHEMA, t.stored_name))) for t in circle]


def _compiled(transaction: Transaction, table: StreamTable) -> Compiled:
    float_sums = table.options.get("float_sums", "algebraic") == "algebraic"
    return compile_query(transaction, table.query, table.dialect, float_sums)


def _windows(streams: Streams, parts: Sequence[Part], end: Point) -> Mapping[str, Window]:
    own = {part.stored.id for part in parts}
    outside = {n: t for part in parts for n, t in part.compiled.tables.items() if t.id not in own}
    return streams.refresher.sources.windows(outside, None, end)


def _commit(
    streams: Streams,
    transaction: Transaction,
    before: StreamTable,
    parts: Sequence[Part],
    target: Snapshot,
    changed: Sequence[tuple[int, int]],
    watch: Stopwatch,
) -> None:
    registry, draft = streams.registry, transaction.draft

    def require(connection: Connection, _: Snapshot) -> None:
        for table in (before, *(part.table for part in parts[1:])):
            registry.require(connection, table)

    def rider(connection: Connection, snapshot: int) -> None:
        registry.redefine(connection, parts[0].table)
        for part in parts:
            registry.mark(connection, part.table, options=json.dumps(dict(part.table.keeping(()).options)))
        for part, (inserted, deleted) in zip(parts, changed, strict=True):
            registry.advance(connection, part.table, target.id, snapshot, transaction.base.id)
            done = (inserted, deleted, target.id, snapshot)
            result = watch.result(part.table, "REINITIALIZE", "query_changed", *done)
            registry.record(connection, watch.line(part.table, result))

    draft.requirements.append(require)
    draft.riders.append(rider)
    draft.message = f"alter stream table {before.label}"
    streams.lake.commit(draft)
    _settle_dependencies(streams, [part.table for part in parts])


def _settle_dependencies(streams: Streams, tables: Sequence[StreamTable]) -> None:
    """A stored table that was made by the commit has its id only now."""
    head = streams.lake.head()
    transaction = Transaction(streams.lake, Draft(head))
    found = [replace(t, dependencies=_compiled(transaction, t).dependencies()) for t in tables]
    with streams.lake.catalog.writing() as connection:
        for table in found:
            streams.registry.put_dependencies(connection, table)
