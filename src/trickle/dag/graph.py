"""A graph of tables, views and stream tables; an edge leads from what is read to its reader.

>>> shop = Graph().put("orders", TABLE).put("totals", STREAM, ["orders"]).put("best", STREAM, ["totals"])
>>> shop.levels()
(('orders',), ('totals',), ('best',))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import networkx as nx


TABLE, VIEW, STREAM = "table", "view", "stream table"


@dataclass(frozen=True)
class Graph:
    kinds: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What each reads, directly."""

    def put(self, name: str, kind: str, sources: Iterable[str] = ()) -> Graph:
        """The graph with this node as said, new or other than before; sources it does not know are tables."""
        read = tuple(dict.fromkeys(sources))
        unknown = {s: TABLE for s in read if s not in self.kinds}
        return Graph({**self.kinds, **unknown, name: kind}, {**self.sources, name: read})

    def drop(self, name: str) -> Graph:
        """The graph without the node; nobody reads it any more."""
        kinds = {n: kind for n, kind in self.kinds.items() if n != name}
        left = {n: tuple(s for s in read if s != name) for n, read in self.sources.items() if n != name}
        return Graph(kinds, left)

    @cached_property
    def digraph(self) -> nx.DiGraph:
        import networkx as nx

        made = nx.DiGraph()
        made.add_nodes_from(self.kinds)
        made.add_edges_from(self.edges())
        return made

    def edges(self) -> Iterator[tuple[str, str]]:
        """(source, reader)"""
        return ((source, reader) for reader, read in self.sources.items() for source in read)

    def readers(self, name: str) -> tuple[str, ...]:
        return tuple(self.digraph.successors(name))

    def upstream(self, name: str) -> frozenset[str]:
        """Everything it reads, directly or not."""
        import networkx as nx

        return frozenset(nx.ancestors(self.digraph, name))

    def downstream(self, name: str) -> frozenset[str]:
        """Everything that reads it, directly or not."""
        import networkx as nx

        return frozenset(nx.descendants(self.digraph, name))

    def order(self) -> tuple[str, ...]:
        """Sources before their readers; those of a circle beside each other."""
        return tuple(name for group in self.components() for name in group)

    def levels(self) -> tuple[tuple[str, ...], ...]:
        """Level n reads nothing beyond level n − 1; those of a circle share a level."""
        import networkx as nx

        condensed = nx.condensation(self.digraph)
        members = condensed.nodes(data="members")
        return tuple(
            tuple(sorted(name for group in level for name in members[group]))
            for level in nx.topological_generations(condensed)
        )

    def components(self) -> tuple[tuple[str, ...], ...]:
        """The strongly connected components, sources first: a circle is one, anything else stands alone."""
        import networkx as nx

        condensed = nx.condensation(self.digraph)
        members = condensed.nodes(data="members")
        return tuple(tuple(sorted(members[group])) for group in nx.topological_sort(condensed))

    def circles(self) -> tuple[tuple[str, ...], ...]:
        """The components that read themselves."""
        return tuple(c for c in self.components() if len(c) > 1 or c[0] in self.sources.get(c[0], ()))
