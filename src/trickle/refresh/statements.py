"""SQL of a refresh, rendered once: the same text each time, so that engines know it again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from pyspark.sql.types import StructType

from ..plan import Node, Scan, Version, walk
from ..sql.names import quote_spark
from ..sql.render import render
from .lookups import Key, Lookup, Read
from .seeking import known_origins, looked_up


@dataclass(frozen=True)
class Statement:
    """A SELECT, the columns that it reads of each relation, and which of those are states looked up by key."""

    written: Callable[..., str]
    """The SQL, for a session and a change of some size."""
    reads: Mapping[Read, frozenset[str]]
    lookups: Mapping[str, Lookup]
    origins: tuple[tuple[tuple[Read, str], ...], ...] = ()
    """Of each column: the columns of relations that it comes from, if the driver may hold those; else none."""
    shown: tuple[str, ...] | None = None
    """What is selected of the rows, so that they have the types they are stored with; None: as they are."""

    @classmethod
    def of(cls, plan: Node, name: Callable[[str, Version], str], labels: Sequence[str]) -> Statement:
        plan, lookups = looked_up(plan)
        origins = tuple(known_origins(plan, name, lookups) for name in plan.names)
        reads: dict[Read, frozenset[str]] = {}
        for node in walk(plan):
            if isinstance(node, Scan):
                read = (node.table, node.version)
                reads[read] = reads.get(read, frozenset()) | {f.source for f in node.fields}
        # What the driver reads comes first: its keys tell what to look up.
        order = {table: n for n, table in enumerate(lookups, start=1)}
        first = sorted(reads, key=lambda read: order.get(read[0], 0))
        written = partial(render, plan, name, labels)
        return cls(written, {read: reads[read] for read in first}, lookups, origins)

    @cached_property
    def text(self) -> str:
        """For a change that can be sent to every task: Spark is told to."""
        return self.written(broadcast=True)

    @cached_property
    def for_few_rows(self) -> str:
        """For a session that does everything in one task."""
        return self.written(one_task=True)

    @cached_property
    def standing(self) -> str:
        """For a standing plan. Tables of hashes take memory in small pieces there; elsewhere, a whole page each."""
        return self.written(one_task=True, hashed=True)

    @cached_property
    def for_many(self) -> str:
        """For a change that is too large for that: how to join is left to Spark."""
        return self.written()

    def selected(self, text: str, most: int | None) -> str:
        """One of the texts, with what is shown of its rows, and at most so many of them."""
        if self.shown is None and most is None:
            return text
        limit = "" if most is None else f" LIMIT {most}"
        return f"SELECT {', '.join(self.shown or '*')} FROM ({text}){limit}"

    def typed(self, found: StructType, stored: Mapping[str, str]) -> Statement:
        """The same, with the types that columns are stored with, by what Spark says of its rows."""
        held = {f.name: f.dataType.simpleString() for f in found.fields}
        if all(held[n] == stored.get(n, held[n]) for n in held):
            return self
        names = ((n, quote_spark(n)) for n in held)
        shown = tuple(f"CAST({q} AS {stored[n]}) AS {q}" if n in stored else q for n, q in names)
        return replace(self, shown=shown)

    def keys(self, columns: Sequence[str]) -> tuple[Key, ...]:
        """That columns of another relation equal the first ones of this statement, NULLs too."""
        pairs = zip(columns, self.origins, strict=False)
        return tuple(Key(column, among, null_safe=True) for column, among in pairs if among)
