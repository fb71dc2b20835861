"""SQL of a refresh, rendered once: the same text each time, so that engines know it again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from ..plan import Node, Scan, Version, walk
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
    def for_many(self) -> str:
        """For a change that is too large for that: how to join is left to Spark."""
        return self.written()

    def keys(self, columns: Sequence[str]) -> tuple[Key, ...]:
        """That columns of another relation equal the first ones of this statement, NULLs too."""
        pairs = zip(columns, self.origins, strict=False)
        return tuple(Key(column, among, null_safe=True) for column, among in pairs if among)
