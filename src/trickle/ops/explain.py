"""Explanations: what a stream table does at a refresh, what a query would become, and why."""

from __future__ import annotations

import time
from dataclasses import dataclass

from pyspark.sql.types import StructField

from ..delta import Storage, initial, strategies
from ..delta import recursion as recursions
from ..delta.state import steps
from ..errors import QueryError, TrickleError
from ..execute.binding import Binding
from ..execute.transaction import Transaction
from ..lake.foreign import translated
from ..plan import Node, Version, tables
from ..records import Record, Records
from ..refresh import intermediates
from ..refresh.change_sql import labelled, stored_change
from ..refresh.choose import Choice
from ..refresh.compile import Compiled, compile_query
from ..refresh.fixpoint import Fixpoint
from ..refresh.solution import circle_of
from ..registry.models import StreamTable
from ..sql.names import Name
from ..sql.render import quote, render
from . import circles
from .advice import query_warnings
from .explain_keys import relied_upon
from .facts import effective_mode
from .outline import outline
from .streams import Streams


@dataclass(frozen=True)
class Explanation(Record):
    """One line of an explanation: what it is about, which thing, and what is said."""

    section: str
    item: str
    detail: str


@dataclass(frozen=True)
class ModeExplanation(Record):
    name: str
    refresh_mode: str
    effective_mode: str
    next_action: str
    next_reason: str
    detail: str


@dataclass(frozen=True)
class Validation(Record):
    """What a query would become as a stream table."""

    valid: bool
    effective_mode: str
    strategy: str
    construct: str
    """What stands in the way of a differential refresh; empty if nothing does."""
    columns: tuple[str, ...]
    sources: tuple[str, ...]
    warnings: tuple[str, ...]
    error: str


@dataclass(frozen=True)
class AuxiliaryColumn(Record):
    name: str
    type: str
    purpose: str


def explain_st(streams: Streams, name: Name, analyze: bool = False) -> Records[Explanation]:
    """The plan, the delta plan, the SQL of both, strategies, hidden columns and what would be scanned."""
    table = streams.find(name)
    compiled = streams.refresher.compiled(table, streams.lake.head())
    found = [
        Explanation("definition", table.label, table.query),
        Explanation("mode", table.refresh_mode, f"effective {effective_mode(table)}"),
        *sources(streams, table),
        *(Explanation("declared key", item, said) for item, said in relied_upon(streams, table, compiled)),
        *_intermediates(streams, table, compiled),
        *(Explanation("function", name, f"body {hash}") for name, hash in compiled.functions.items()),
    ]
    found += _plans(compiled)
    found += _circle(streams, table)
    if analyze:
        found += _analyzed(streams, table)
    return Records(found)


def _intermediates(streams: Streams, table: StreamTable, compiled: Compiled) -> list[Explanation]:
    """Operators below others: which are stored, and why."""
    whole = compiled.entire
    stored = {kept.intermediate.name: kept.table for kept in compiled.kept}
    reason = _why_stored(streams, table, whole)
    found = []
    for part in intermediates.possible(whole):
        held = stored.get(part.name)
        why = f"{reason}; table {held.label}" if held is not None else reason
        said = f"{'not ' * (held is None)}stored: {why}"
        found.append(Explanation("intermediate", f"{part.operator} of {', '.join(sorted(tables(part.whole)))}", said))
    return found


def _why_stored(streams: Streams, table: StreamTable, whole: Compiled) -> str:
    choice = table.options.get("intermediates", "auto")
    if whole.needs_intermediates or (whole.deep and choice == "auto"):
        return "the query is nested deep, and its change shorter this way"
    least = streams.lake.settings["refresh.intermediate_rows"]
    return f"intermediates = '{choice}'" if choice != "auto" else f"from {least:,} rows of its sources on it pays"


def _plans(compiled: Compiled) -> list[Explanation]:
    storage = compiled.storage
    if storage is None:
        assert compiled.obstacle is not None
        return [
            Explanation("obstacle", compiled.construct, str(compiled.obstacle)),
            Explanation("sql", "full", compiled.text),
        ]
    full, delta = initial(storage), stored_change(storage)
    found = [Explanation("plan", str(n), text) for n, text in enumerate(outline(full))]
    found += [Explanation("delta plan", str(n), text) for n, text in enumerate(outline(delta))]
    found += [
        Explanation("operator", s.operator, f"{s.strategy}: {s.reason}") for s in strategies(storage.plan, storage)
    ]
    found += _recursions(compiled, storage)
    found += [Explanation("hidden column", h.column.name, h.purpose) for h in storage.hidden]
    found.append(Explanation("sql", "full", render(full, _named, storage.stored_labels)))
    found.append(Explanation("sql", "delta", _sql(storage, delta)))
    return found + [Explanation("sql", name, _sql(storage, plan)) for name, plan in _steps(storage)]


def _circle(streams: Streams, table: StreamTable) -> list[Explanation]:
    """How the circle that the stream table stands in follows its sources."""
    circle = circles.of(streams, table)
    if not circle:
        return []
    solved = circle_of(circles.parts(streams, circle)).recursion
    why = recursions.obstacle(solved)
    said = "rederive: rows that lost a derivation are deleted and rederived, rows that came carried on"
    if why:
        said = f"recompute: where rows go all members are computed anew and compared: {why}"
    return [Explanation("circle", solved.label, said)]


def _recursions(compiled: Compiled, storage: Storage) -> list[Explanation]:
    """How each recursion follows its sources, and the SQL of its first and of every further round."""
    found = []
    for recursion in compiled.recursions:
        said = recursions.strategy(recursion, storage)
        found.append(Explanation("operator", said.operator, f"{said.strategy}: {said.reason}"))
        for item, plan in (("first round", recursions.begin), ("next round", recursions.advance)):
            sql = render(plan(recursion, Version.AFTER), _named, recursion.base.names)
            found.append(Explanation("sql", f"{recursion.label}, {item}", sql))
    return found


def _steps(storage: Storage) -> list[tuple[str, Node]]:
    """How a small change of an aggregate is carried over: what becomes of each group, and the groups to rescan."""
    if storage.aggregate is None:
        return []
    found = [("small delta", steps.outcome(storage, steps.contributions(storage)))]
    stale = storage.strategy == "rescan" or any(a.stale is not None for a in storage.algebras)
    return [*found, ("rescan", steps.rescan(storage))] if stale else found


def _sql(storage: Storage, plan: Node) -> str:
    return render(plan, _named, labelled(storage, plan), broadcast=True)


def _named(table: str, version: Version) -> str:
    return quote(f"{table}@{version.value}")


def sources(streams: Streams, table: StreamTable) -> list[Explanation]:
    """What the next refresh would read, by the catalog alone."""
    try:
        look = streams.refresher.look(table)
    except TrickleError as error:
        return [Explanation("source", table.label, error.message)]
    if not look.windows:
        return [Explanation("source", d.name, "nothing changed since the frontier") for d in table.dependencies]
    found = []
    for name, window in look.windows.items():
        start = "nothing" if window.start is None else f"snapshot {window.start.id}"
        change = "unchanged" if name in look.unchanged else f"changes from {start} to snapshot {window.end.id}"
        found.append(Explanation("source", name, change))
    total = f"{look.changed_rows} changed rows of {look.source_rows}"
    return [*found, Explanation("source", "total", total)]


def _analyzed(streams: Streams, table: StreamTable) -> list[Explanation]:
    """Really refresh, and tell how long it took."""
    clock = time.perf_counter()
    result = streams.refresh(Name(table.schema, table.name))
    elapsed = (time.perf_counter() - clock) * 1000
    rows = f"+{result.rows_inserted} −{result.rows_deleted} rows in {elapsed:.0f} ms"
    return [Explanation("analyze", result.action, f"{result.reason} {rows}".strip())]


def explain_refresh_mode(streams: Streams, name: Name) -> Records[ModeExplanation]:
    """Which mode a stream table has in effect, and what its next refresh would do and why."""
    table = streams.find(name)
    circle = circles.of(streams, table)
    choice = Fixpoint.preview(streams.refresher, circle) if circle else streams.refresher.preview(table)
    return Records(
        [
            ModeExplanation(
                table.label,
                table.refresh_mode,
                effective_mode(table),
                choice.action,
                choice.reason,
                _why(table, choice),
            )
        ]
    )


def _why(table: StreamTable, choice: Choice) -> str:
    if table.obstacle:
        return f"{table.obstacle} has no differential form, so every refresh recomputes and writes the difference."
    found = {
        "NO_DATA": "no source changed since the frontier.",
        "SKIP": "refreshes are suspended.",
        "DIFFERENTIAL": "only what changed is computed.",
    }.get(choice.action, f"it will be recomputed: {choice.reason}.")
    return f"{found.removesuffix('.')}; {choice.why}." if choice.why else found


def explain_query_rewrite(streams: Streams, query: str, dialect: str = "spark") -> Records[Explanation]:
    """The way of a query: as written, as Spark SQL, as a plan, as what is stored, as the change of it."""
    compiled = compile_query(Transaction.begin(streams.lake), query, dialect)
    found = [Explanation("query", dialect, query)]
    if compiled.text != query:
        found.append(Explanation("query", "spark", compiled.text))
    found += [Explanation("view inlined", name, text) for name, text in compiled.views.items()]
    if compiled.query is not None:
        found += [Explanation("lowered plan", str(n), text) for n, text in enumerate(outline(compiled.query.plan))]
    return Records([*found, *_plans(compiled)])


def validate_query(streams: Streams, query: str, dialect: str = "spark") -> Records[Validation]:
    """What the query would become, before anything is created."""
    try:
        return Records([_validation(streams, query, dialect)])
    except TrickleError as error:
        return Records([Validation(False, "", "", "", (), (), (), str(error))])


def _validation(streams: Streams, query: str, dialect: str) -> Validation:
    transaction = Transaction.begin(streams.lake)
    compiled = compile_query(transaction, query, dialect)
    fields = _fields(transaction, compiled)
    return Validation(
        True,
        "FULL" if compiled.obstacle else "DIFFERENTIAL",
        compiled.storage.strategy if compiled.storage else "full",
        compiled.construct,
        tuple(f"{f.name} {f.dataType.simpleString()}" for f in fields),
        tuple(d.name for d in compiled.dependencies()),
        query_warnings(compiled),
        "",
    )


def _fields(transaction: Transaction, compiled: Compiled) -> list[StructField]:
    """The query's columns, by Spark's analyzer: of its plan, where that knows less of SQL than Trickle."""
    binding = Binding(transaction)
    try:
        with translated("query"):
            return binding.run(compiled.shape).schema.fields
    except QueryError:
        if compiled.query is None or compiled.recursions:
            raise
        with translated("query"):
            return binding.run(render(compiled.query.plan, _written, compiled.query.labels)).schema.fields
    finally:
        binding.close()


def _written(table: str, version: Version) -> str:
    return ".".join(quote(part) for part in table.split("."))


def list_auxiliary_columns(streams: Streams, name: Name) -> Records[AuxiliaryColumn]:
    """The hidden columns behind a stream table's own."""
    table = streams.find(name)
    compiled = streams.refresher.compiled(table, streams.lake.head())
    hidden = compiled.storage.hidden if compiled.storage else ()
    stored = streams.refresher.stored(table, streams.lake.head())
    types = {c.name: c.type for c in stored.columns}
    return Records(AuxiliaryColumn(h.column.name, types.get(h.column.name, ""), h.purpose) for h in hidden)
