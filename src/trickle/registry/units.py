"""What is committed together, in the order of refreshes: diamonds, refresh groups, circles, and tables alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..dag import Diamond, Graph, diamonds, together
from .models import StreamTable
from .reading import graph_of


@dataclass(frozen=True)
class Units:
    graph: Graph
    diamonds: tuple[Diamond, ...]
    """Those whose members are committed together."""
    members: tuple[tuple[StreamTable, ...], ...]
    """The stream tables of each unit; sources first, within units too."""

    @classmethod
    def of(cls, tables: Sequence[StreamTable], groups: Iterable[Iterable[str]]) -> Units:
        """`groups` are named sets that are committed together, by label."""
        graph = graph_of(tables)
        by_stored = {t.stored: t for t in tables}
        stored = {t.label: t.stored for t in tables}
        named = [[stored[label] for label in group if label in stored] for group in groups]
        found = diamonds(graph)
        atomic = tuple(d for d in found if by_stored[d.meets].options.get("diamond_consistency") != "none")
        units = together(graph, [*(d.members for d in atomic), *named])
        return cls(graph, atomic, tuple(tuple(by_stored[name] for name in unit) for unit in units))
