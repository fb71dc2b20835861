"""SQL of a refresh, rendered once: the same text each time, so that engines know it again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..plan import Node, Scan, Version, walk
from ..sql.render import render
from .lookups import Lookup, Read, looked_up


@dataclass(frozen=True)
class Statement:
    """A SELECT, the columns that it reads of each relation, and which of those are states looked up by key."""

    text: str
    reads: Mapping[Read, frozenset[str]]
    lookups: Mapping[str, Lookup]

    @classmethod
    def of(cls, plan: Node, name: Callable[[str, Version], str], labels: Sequence[str]) -> Statement:
        plan, lookups = looked_up(plan)
        reads: dict[Read, frozenset[str]] = {}
        for node in walk(plan):
            if isinstance(node, Scan):
                read = (node.table, node.version)
                reads[read] = reads.get(read, frozenset()) | {f.source for f in node.fields}
        # What the driver reads comes first: its keys tell what to look up.
        first = sorted(reads, key=lambda read: read[0] in lookups)
        return cls(render(plan, name, labels, broadcast=True), {read: reads[read] for read in first}, lookups)
