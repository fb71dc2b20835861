"""SQL of a refresh, rendered once: the same text each time, so that engines know it again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..plan import Node, Scan, Version, walk
from ..sql.render import render
from .lookups import Key, Lookup, Read
from .seeking import known_origins, looked_up


@dataclass(frozen=True)
class Statement:
    """A SELECT, the columns that it reads of each relation, and which of those are states looked up by key."""

    text: str
    for_few_rows: str
    """The same for a session that does everything in one task."""
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
        texts = (render(plan, name, labels, broadcast=True), render(plan, name, labels, one_task=True))
        return cls(*texts, {read: reads[read] for read in first}, lookups, origins)

    def keys(self, columns: Sequence[str]) -> tuple[Key, ...]:
        """That columns of another relation equal the first ones of this statement, NULLs too."""
        pairs = zip(columns, self.origins, strict=False)
        return tuple(Key(column, among, null_safe=True) for column, among in pairs if among)
