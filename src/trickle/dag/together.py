"""What is committed together: sets that overlap become one, and one must not stand between two parts of itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .graph import STREAM, Graph

if TYPE_CHECKING:
    import networkx as nx


def together(graph: Graph, groups: Iterable[Iterable[str]]) -> tuple[tuple[str, ...], ...]:
    """The stream tables in units, sources first: each unit is one commit; a table of no group is its own unit.

    A table that reads one member and is read by another belongs to the group: it cannot come before or after it.

    >>> chain = Graph().put("a", STREAM).put("b", STREAM, "a").put("c", STREAM, "b").put("d", STREAM, "c")
    >>> together(chain, [["a", "c"]])
    (('a', 'b', 'c'), ('d',))
    """
    import networkx as nx

    streams = [name for name in graph.order() if graph.kinds[name] == STREAM]
    unit_of = _merged(streams, groups)
    condensed = nx.condensation(_quotient(graph, streams, unit_of))
    circles = condensed.nodes(data="members")
    place = {name: n for n, name in enumerate(streams)}
    members: dict[str, list[str]] = {}
    for name in streams:
        members.setdefault(unit_of[name], []).append(name)
    given = {name: n for n, name in enumerate(graph.sources)}
    first = {circle: min(given[m] for unit in units for m in members[unit]) for circle, units in circles}
    return tuple(
        tuple(sorted((m for unit in circles[circle] for m in members[unit]), key=place.__getitem__))
        for circle in nx.lexicographical_topological_sort(condensed, first.__getitem__)
    )


def _merged(streams: list[str], groups: Iterable[Iterable[str]]) -> dict[str, str]:
    """Each stream table with the one that stands for its unit."""
    import networkx as nx

    joined = nx.Graph()
    joined.add_nodes_from(streams)
    for group in groups:
        known = [name for name in group if name in joined]
        nx.add_path(joined, known)
    return {name: min(unit) for unit in nx.connected_components(joined) for name in unit}


def _quotient(graph: Graph, streams: list[str], unit_of: dict[str, str]) -> nx.DiGraph:
    """Units as nodes: an edge where a member reads a member of another, also through views."""
    import networkx as nx

    found = nx.DiGraph()
    found.add_nodes_from(unit_of[name] for name in streams)
    for reader in streams:
        for source in _streams_read(graph, reader):
            if unit_of[source] != unit_of[reader]:
                found.add_edge(unit_of[source], unit_of[reader])
    return found


def _streams_read(graph: Graph, name: str) -> Iterable[str]:
    for source in graph.sources.get(name, ()):
        if graph.kinds[source] == STREAM:
            yield source
        else:
            yield from _streams_read(graph, source)
