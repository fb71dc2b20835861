"""A graph of tables, views and stream tables; an edge leads from what is read to its reader.

>>> shop = Graph().put("orders", TABLE).put("totals", STREAM, ["orders"]).put("best", STREAM, ["totals"])
>>> shop.levels()
(('orders',), ('totals',), ('best',))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

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

    def edges(self) -> Iterator[tuple[str, str]]:
        """(source, reader)"""
        return ((source, reader) for reader, read in self.sources.items() for source in read)

    @cached_property
    def _readers(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {name: [] for name in self.kinds}
        for source, reader in self.edges():
            found[source].append(reader)
        return found

    def readers(self, name: str) -> tuple[str, ...]:
        return tuple(self._readers[name])

    def upstream(self, name: str) -> frozenset[str]:
        """Everything it reads, directly or not."""
        return _reached(name, lambda n: self.sources.get(n, ()))

    def downstream(self, name: str) -> frozenset[str]:
        """Everything that reads it, directly or not."""
        return _reached(name, self.readers)

    def order(self) -> tuple[str, ...]:
        """Sources before their readers; those of a circle beside each other."""
        return tuple(name for group in self.components() for name in group)

    def levels(self) -> tuple[tuple[str, ...], ...]:
        """Level n reads nothing beyond level n − 1; those of a circle share a level."""
        return tuple(tuple(sorted(name for group in level for name in group)) for level in self._generations)

    def components(self) -> tuple[tuple[str, ...], ...]:
        """The strongly connected components, sources first: a circle is one, anything else stands alone."""
        return tuple(group for level in self._generations for group in level)

    @cached_property
    def _generations(self) -> tuple[tuple[tuple[str, ...], ...], ...]:
        """The components of each level."""
        try:
            return tuple(tuple((name,) for name in level) for level in self._without_circles())
        except CycleError:
            return self._with_circles()

    def _without_circles(self) -> Iterator[tuple[str, ...]]:
        sorter = TopologicalSorter({name: self.sources.get(name, ()) for name in self.kinds})
        sorter.prepare()
        while sorter.is_active():
            level = sorter.get_ready()
            sorter.done(*level)
            yield level

    def _with_circles(self) -> tuple[tuple[tuple[str, ...], ...], ...]:
        """Circles are rare: commands that show facts do not wait for the library that finds them."""
        import networkx as nx

        found = nx.DiGraph()
        found.add_nodes_from(self.kinds)
        found.add_edges_from(self.edges())
        condensed = nx.condensation(found)
        members = condensed.nodes(data="members")
        levels = nx.topological_generations(condensed)
        return tuple(tuple(tuple(sorted(members[group])) for group in level) for level in levels)

    def circles(self) -> tuple[tuple[str, ...], ...]:
        """The components that read themselves."""
        return tuple(c for c in self.components() if len(c) > 1 or c[0] in self.sources.get(c[0], ()))


def _reached(name: str, following: Callable[[str], Iterable[str]]) -> frozenset[str]:
    """Whatever is reached from a node, without itself."""
    found, left = {name}, [name]
    while left:
        new = [n for n in following(left.pop()) if n not in found]
        found.update(new)
        left.extend(new)
    return frozenset(found - {name})
