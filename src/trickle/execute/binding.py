"""Queries on lake tables as queries that Spark can run: each table named becomes a view of its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count

from pyspark.sql import DataFrame, SparkSession

from ..errors import CycleDetected, NotFound, QueryError, TrickleError
from ..lake import snapshots
from ..lake.draft import Draft
from ..lake.foreign import translated
from ..lake.lake import missing
from ..lake.model import Bound, Snapshot, View
from ..spark import is_connect
from ..sql.bounds import query_bounds
from ..sql.dialects import duckdb_to_spark
from ..sql.references import Reference, Version, expression_references, references, relation_references, splice
from ..sql.statement import Name, quote_spark
from .functions import for_spark, named_as_written
from .transaction import Transaction

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_numbers = count(1)


@dataclass
class Binding:
    """The Spark views that one statement needs; gone when it ends."""

    transaction: Transaction
    facts: Callable[[Reference], DataFrame | None] = lambda _: None
    """Relations of schema `trickle` that are no tables of the lake: functions and the registry."""
    _views: dict[object, str] = field(default_factory=dict)
    _open: tuple[str, ...] = ()
    """Views being expanded, outermost first."""
    _bounds: dict[Name, tuple[Bound, ...]] = field(default_factory=dict)

    @property
    def spark(self) -> SparkSession:
        return self.transaction.lake.spark

    # Texts.

    def query(self, text: str) -> str:
        return self._query(for_spark(self.transaction.lake, text))

    def _query(self, text: str) -> str:
        found = references(text)
        if len(found) == 1:
            self._bounds = {found[0].name: self._pruning(text, found[0].name)}
        try:
            return self._bound(text, found)
        finally:
            self._bounds = {}

    def _pruning(self, text: str, name: Name) -> tuple[Bound, ...]:
        """What the WHERE of a query on one table tells about its files."""
        table = self.transaction.find_table(name)
        return () if table is None else query_bounds(text, {c.name: c.type for c in table.columns}, name)

    def expression(self, text: str) -> str:
        text = for_spark(self.transaction.lake, text)
        return self._bound(text, expression_references(text))

    def relation(self, text: str) -> str:
        text = for_spark(self.transaction.lake, text)
        return self._bound(text, relation_references(text))

    def run(self, text: str, about: str = "query") -> DataFrame:
        """A bound query as a DataFrame."""
        known = for_spark(self.transaction.lake, text)
        bound = self._query(known)
        with translated(about):
            frame = self.spark.sql(bound)
        return frame if known == text else named_as_written(frame, text)

    def name(self, frame: DataFrame) -> str:
        """A name under which SQL text can read the frame."""
        name = f"__trickle_{next(_numbers)}"
        frame.createOrReplaceTempView(name)
        self._views[name] = name
        return name

    def close(self) -> None:
        # Spark Connect resolves names when the frame runs, not when it is made: there they have to stay.
        if not self._views or is_connect(self.spark):
            return
        for name in self._views.values():
            self.spark.catalog.dropTempView(name)

    def _bound(self, text: str, found: Iterable[Reference]) -> str:
        replaced = {r: new for r in found if (new := self._replacement(r)) is not None}
        return splice(text, replaced)

    def _replacement(self, reference: Reference) -> str | None:
        name = reference.name
        fact = self.facts(reference)
        if fact is not None:
            return self.name(fact)
        if reference.function is not None:
            raise NotFound(
                f'function "trickle.{reference.function.function}" does not exist',
                hint="see docs/reference/functions.md.",
            )
        if reference.as_of is not None:
            return self._past(name, self._snapshot(reference))
        found = self._relation(name)
        if found is None and not self._is_known_to_spark(name):
            raise missing("table or view", name.label, self.transaction.table_names())
        return found

    def _relation(self, name: Name) -> str | None:
        """A table's rows under a name that Spark knows, or a view's text."""
        table = self.transaction.find_table(name)
        if table is not None:
            bounds = self._bounds.get(name, ())
            key = (self.transaction.base.id, table.id, bounds)
            return self._once(key, lambda: self.transaction.rows(table, bounds))
        view = self.transaction.find_view(name)
        return None if view is None else self._view_text(view)

    def _past(self, name: Name, at: Snapshot) -> str:
        """A table or view as of a snapshot; a view then reads everything as of it."""
        then = Transaction(self.transaction.lake, Draft(at))
        found = Binding(then, self.facts, self._views, self._open)._relation(name)
        if found is None:
            raise NotFound(f'"{name.label}" does not exist at snapshot {at.id}', hint="choose a later snapshot.")
        return found

    def _once(self, key: object, frame: Callable[[], DataFrame]) -> str:
        if key not in self._views:
            name = f"__trickle_{next(_numbers)}"
            with translated("query"):
                frame().createOrReplaceTempView(name)
            self._views[key] = name
        return self._views[key]

    def _view_text(self, view: View) -> str:
        label = f"{view.schema}.{view.name}"
        if label in self._open:
            path = " → ".join([*self._open, label])
            raise CycleDetected(f'view "{view.name}" reads itself', detail=path, hint="redefine one of them.")
        text = view.sql if view.dialect == "spark" else duckdb_to_spark(view.sql)
        inner = Binding(self.transaction, self.facts, self._views, (*self._open, label))
        try:
            bound = inner.query(text)
        except TrickleError as error:
            raise QueryError(f'view "{view.name}" cannot be read', detail=error.message, hint=error.hint) from error
        if not view.column_aliases:
            return f"({bound})"
        return f"(SELECT * FROM ({bound}) AS `v`({', '.join(map(quote_spark, view.column_aliases))}))"

    def _is_known_to_spark(self, name: Name) -> bool:
        with suppress(Exception):
            return bool(self.spark.catalog.tableExists(name.quote_spark()))
        return False

    def _snapshot(self, reference: Reference) -> Snapshot:
        lake, as_of = self.transaction.lake, reference.as_of
        if isinstance(as_of, Version):
            return lake.snapshot(as_of.snapshot)
        assert as_of is not None
        with translated("TIMESTAMP AS OF"):
            row = self.spark.sql(f"SELECT unix_micros(CAST({as_of.expression} AS TIMESTAMP))").first()
        micros = row[0] if row else None
        if micros is None:
            raise QueryError("TIMESTAMP AS OF needs a point in time", hint="it was NULL.")
        with lake.reading() as connection:
            return snapshots.at_time(lake.catalog, connection, _EPOCH + timedelta(microseconds=micros))
