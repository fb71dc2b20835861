"""A defining query, compiled: its plan, what it stores, which stored tables it reads."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ..delta.cut import Intermediate, cut
from ..delta.declared import Declared
from ..delta.state import Storage, initial, maintain, steps, store, top
from ..errors import CycleDetected, NotIncremental, QueryError, TrickleError
from ..execute.functions import is_builtin, register
from ..execute.transaction import Transaction
from ..lake.lake import missing
from ..lake.model import Table
from ..lake.types import to_spark
from ..plan import Scan, walk, weight
from ..plan.recursion import Recursion
from ..registry.models import Dependency
from ..sql.calls import called
from ..sql.dialects import duckdb_to_spark, is_translatable
from ..sql.dialects import to_spark as query_to_spark
from ..sql.lower import Query, lower
from ..sql.lower.recursion import first_parts
from ..sql.names import distinct
from ..sql.references import references
from ..sql.statement import Name
from .statements import Statement

MANY_OPERATORS = 120
"""Operators of a change from which on intermediates are stored if they make it that much smaller."""
SMALLER = 0.6
MOST_OPERATORS = 600
"""Operators of a change that Spark can plan in bearable time."""


@dataclass(frozen=True)
class Compiled:
    text: str
    """The query in Spark SQL."""
    tables: Mapping[str, Table]
    """The stored tables it reads, by the names plans know them by."""
    views: Mapping[str, str] = field(default_factory=dict)
    """The views it reads them through, with their texts."""
    query: Query | None = None
    storage: Storage | None = None
    obstacle: NotIncremental | None = None
    """Why there is no plan."""
    shape: str = ""
    """A query that Spark can analyze and finds the same columns in: most often the query itself."""
    deep: bool = False
    """Nested so deep that intermediates pay, whatever the size of its sources."""
    kept: tuple[Kept, ...] = ()
    """The intermediates that `storage` reads, each behind those that it reads itself."""
    whole: Compiled | None = field(default=None, compare=False)
    """The query without intermediates, where this is over some."""
    functions: Mapping[str, str] = field(default_factory=dict)
    """The user-defined functions it calls, with their hashes."""
    statements: dict[tuple[object, ...], Statement] = field(default_factory=dict, compare=False)
    """The SQL of refreshes, once it was needed."""
    possible: list[Sequence[Intermediate]] = field(default_factory=list, compare=False)
    """One answer, once somebody asked: the intermediates that there could be."""
    heavy: dict[Declared, bool] = field(default_factory=dict, compare=False)
    """Whether its change in one statement is more than Spark can plan, by what was declared; once somebody asked."""

    outgrown: dict[frozenset[str], int] = field(default_factory=dict, compare=False)
    """By the sources that did not change: a number of changed rows of which more came than the driver should hold."""

    @property
    def construct(self) -> str:
        """What stands in the way of a differential refresh, in one word or two; empty if nothing does."""
        if self.obstacle is None:
            return ""
        return self.obstacle.message.split(" cannot be maintained")[0]

    @cached_property
    def needs_intermediates(self) -> bool:
        """Is its change more than Spark can plan?"""
        return self.deep and self.storage is not None and operators(self.storage) > MOST_OPERATORS

    @cached_property
    def ranks_changes(self) -> bool:
        """Can Spark plan how a change of the first rows is ranked with them? Else all rows are ranked again."""
        assert self.storage is not None
        return weight(top.merged(self.storage)) <= MOST_OPERATORS

    @property
    def entire(self) -> Compiled:
        """The query without intermediates."""
        return self.whole or self

    @cached_property
    def kept_ids(self) -> frozenset[int]:
        """The stored tables of its intermediates."""
        return frozenset(kept.table.id for kept in self.kept)

    @property
    def notes(self) -> tuple[str, ...]:
        return self.query.notes if self.query else ()

    @property
    def recursions(self) -> tuple[Recursion, ...]:
        return self.query.recursions if self.query else ()

    def dependencies(self) -> tuple[Dependency, ...]:
        """The tables read, with the columns that matter: all of them where there is no plan."""
        used = self._used_columns()
        found: dict[str, Dependency] = {}
        for name, table in self.tables.items():
            columns = used.get(name, {c.name for c in table.columns})
            label = f"{table.schema}.{table.name}"
            if label in found:
                columns |= set(found[label].columns)
            kept = tuple(c.name for c in table.columns if c.name in columns)
            found[label] = Dependency(label, table.id, kept, fingerprint(table, kept))
        return tuple(found.values())

    @cached_property
    def read_columns(self) -> Mapping[str, frozenset[str]]:
        """The columns of each table that matter."""
        return {name: frozenset(columns) for name, columns in self._used_columns().items()}

    def _used_columns(self) -> dict[str, set[str]]:
        storage = self.entire.storage
        if storage is None:
            return {}
        used: dict[str, set[str]] = {name: set() for name in self.tables}
        parts = [initial(storage), *(part for r in self.recursions for part in (r.base, r.step))]
        for node in (n for part in parts for n in walk(part)):
            if isinstance(node, Scan):
                used.setdefault(node.table, set()).update(f.source for f in node.fields)
        return used


@dataclass(frozen=True)
class Kept:
    """An intermediate in use: what it holds, how that is followed, where it is stored."""

    intermediate: Intermediate
    compiled: Compiled
    table: Table


def compile_query(transaction: Transaction, text: str, dialect: str = "spark", float_sums: bool = True) -> Compiled:
    """The query against the tables and views that the transaction sees; `QueryError` if it is wrong."""
    spark_text = query_to_spark(text, dialect)
    tables, views = _Surroundings(transaction).of(spark_text)
    schemas = {n: [(c.name, to_spark(c, t.label).simpleString()) for c in t.columns] for n, t in tables.items()}
    functions = transaction.lake.functions(frozenset().union(*map(called, (spark_text, *views.values()))))
    hashes = {name: f.hash for name, f in functions.items()}
    try:
        most_sets = transaction.lake.settings["refresh.grouping_sets"]
        query = lower(text, schemas, views, dialect, functions, is_builtin(transaction.lake), most_sets)
        query.require_deterministic()
        storage = store(query.plan, query.labels, float_sums=float_sums)
        deep = _is_deep(storage, frozenset(tables))
    except NotIncremental as obstacle:
        if not is_translatable(text, dialect):
            raise
        return Compiled(spark_text, tables, views, obstacle=obstacle, shape=spark_text, functions=hashes)
    register(transaction.lake, functions.values())
    distinct(query.labels, "the query's column")
    shape = first_parts(spark_text) if query.recursions else spark_text
    return Compiled(spark_text, tables, views, query, storage, shape=shape, deep=deep, functions=hashes)


def means_the_same(transaction: Transaction, compiled: Compiled) -> bool:
    """Whether a query understood elsewhere reads the same tables through the same views, with the same functions."""
    try:
        tables, views = _Surroundings(transaction).of(compiled.text)
    except TrickleError:
        return False
    functions = transaction.lake.functions(frozenset().union(*map(called, (compiled.text, *views.values()))))
    hashes = {name: f.hash for name, f in functions.items()}
    return (
        views == compiled.views
        and hashes == compiled.functions
        and {n: undated(t) for n, t in tables.items()} == {n: undated(t) for n, t in compiled.tables.items()}
        and {n: _declared(t) for n, t in tables.items()} == {n: _declared(t) for n, t in compiled.tables.items()}
    )


def undated(table: Table) -> Table:
    """The definition without the version of the lake's schema that it was read at."""
    return replace(table, schema_version=0)


def _declared(table: Table) -> tuple[int, ...]:
    """When its keys were declared: one that was dropped and declared again says nothing of the time between."""
    keys = (*((table.key,) if table.key else ()), *table.foreign_keys)
    return tuple(key.since for key in keys)


def _is_deep(storage: Storage, tables: frozenset[str]) -> bool:
    """Spark plans every shared part of a change again: is it nested so deep that intermediates pay for that alone?

    Where even they do not help, it would never be done.
    """
    whole = operators(storage) if storage.top is None else weight(top.merged(storage))
    if whole <= MANY_OPERATORS:
        return False
    found = cut(storage, tables, repr)
    parts = [found.storage, *(store(i.plan, i.labels) for i in found.intermediates)]
    most = max(map(operators, parts))
    if most > MOST_OPERATORS and storage.top is not None and operators(storage) <= MOST_OPERATORS:
        return False  # all rows are ranked again
    if most > MOST_OPERATORS:
        raise NotIncremental(
            "a query nested this deep cannot be maintained incrementally",
            detail=f"its change has {most} operators; {MOST_OPERATORS} can be borne.",
            hint="make stream tables of its subqueries and read those, or set refresh_mode = 'FULL'.",
        )
    return whole > MOST_OPERATORS or most <= SMALLER * whole


def operators(storage: Storage) -> int:
    """Operators that an engine sees at once when what is stored is moved: an aggregate can be moved in steps."""
    if storage.aggregate is None:
        return weight(maintain(storage))
    return min(weight(maintain(storage)), max(weight(steps.contributions(storage)), weight(steps.rescan(storage))))


def fingerprint(table: Table, columns: tuple[str, ...]) -> str:
    """What a query can tell of a table's columns: ids, names, types."""
    facts = [(c.id, c.name, to_spark(c, table.label).simpleString()) for c in table.columns if c.name in columns]
    return hashlib.sha256(json.dumps([table.id, facts]).encode()).hexdigest()[:16]


class _Surroundings:
    """Every table and view a text reads, directly or through views."""

    def __init__(self, transaction: Transaction) -> None:
        self.transaction = transaction
        self.tables: dict[str, Table] = {}
        self.views: dict[str, str] = {}
        self.open: list[str] = []

    def of(self, text: str) -> tuple[dict[str, Table], dict[str, str]]:
        self.visit(text)
        return self.tables, self.views

    def visit(self, text: str) -> None:
        for name in self.names(text):
            label = name.label
            if label in self.tables:
                continue
            table = self.transaction.find_table(name)
            if table is not None:
                self.tables[label] = table
            else:
                self.visit_view(name)

    def names(self, text: str) -> Iterator[Name]:
        for reference in references(text):
            if reference.as_of is not None:
                raise QueryError(
                    f'"{reference.name.label}" is read as of a fixed snapshot',
                    hint="a stream table follows its sources; remove VERSION AS OF.",
                )
            if reference.function is None:
                yield reference.name

    def visit_view(self, name: Name) -> None:
        view = self.transaction.find_view(name)
        if view is None:
            raise missing("table or view", name.label, self.transaction.table_names())
        if name.label in self.open:
            path = " → ".join([*self.open, name.label])
            raise CycleDetected(f'view "{name.label}" reads itself', detail=path, hint="redefine one of them.")
        text = view.sql if view.dialect == "spark" else duckdb_to_spark(view.sql)
        self.open.append(name.label)
        self.visit(text)
        self.open.pop()
        self.views[name.label] = text
