"""What stream tables read, as a graph of stored tables under the names of plans."""

from __future__ import annotations

from collections.abc import Iterable

from ..dag import STREAM, TABLE, Graph
from .models import StreamTable


def graph_of(tables: Iterable[StreamTable]) -> Graph:
    """The stored tables and who reads them; made at once, as adding one by one copies it each time."""
    sources = {table.stored: tuple(d.name for d in table.dependencies) for table in tables}
    known = {name: TABLE for read in sources.values() for name in read}
    return Graph({**known, **dict.fromkeys(sources, STREAM)}, sources)


def base_tables(tables: Iterable[StreamTable]) -> dict[str, frozenset[str]]:
    """For each stream table the tables at the bottom of what it reads; those of a circle share them."""
    graph = graph_of(tables)
    found: dict[str, frozenset[str]] = {}
    for group in graph.components():
        read = {source for name in group for source in graph.sources.get(name, ())} - set(group)
        below = frozenset().union(*(found[s] if graph.kinds[s] == STREAM else {s} for s in read))
        found |= {name: below for name in group if graph.kinds[name] == STREAM}
    return found
