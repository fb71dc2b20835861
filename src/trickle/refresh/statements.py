"""SQL of a refresh, rendered once: the same text each time, so that engines know it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..plan import Node, Scan, Version, walk
from ..sql.render import render
from .windows import Frames

Read = tuple[str, Version]


@dataclass(frozen=True)
class Statement:
    """A SELECT, and the columns that it reads of each relation."""

    text: str
    reads: Mapping[Read, frozenset[str]]

    @classmethod
    def of(cls, plan: Node, frames: Frames, labels: Sequence[str]) -> Statement:
        reads: dict[Read, frozenset[str]] = {}
        for node in walk(plan):
            if isinstance(node, Scan):
                read = (node.table, node.version)
                reads[read] = reads.get(read, frozenset()) | {f.source for f in node.fields}
        return cls(render(plan, frames.name, labels, broadcast=True), reads)
