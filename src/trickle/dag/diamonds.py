"""Diamonds: a stream table reached from one source by two paths.

    A → B → D
    A → C → D      who reads B and C, or B and D, should see one state of A in both

B, C and D belong together; A, where the paths part, does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from .graph import STREAM, Graph


@dataclass(frozen=True)
class Diamond:
    meets: str
    """The stream table in which the paths meet."""
    parts: frozenset[str]
    """Where they part: the nearest sources that both reach it from."""
    members: frozenset[str]
    """The stream tables on the paths, the last one included."""


def diamonds(graph: Graph) -> tuple[Diamond, ...]:
    """One for each stream table in which paths meet.

    >>> from trickle.dag.graph import TABLE
    >>> shop = Graph().put("A", TABLE).put("B", STREAM, "A").put("C", STREAM, "A").put("D", STREAM, "BC")
    >>> [(d.meets, sorted(d.parts), sorted(d.members)) for d in diamonds(shop)]
    [('D', ['A'], ['B', 'C', 'D'])]
    """
    lines = _lines(graph)
    found = (_diamond(graph, lines, name) for name, kind in graph.kinds.items() if kind == STREAM)
    return tuple(diamond for diamond in found if diamond is not None)


def _lines(graph: Graph) -> dict[str, frozenset[str]]:
    """Each node with everything above it."""
    lines: dict[str, frozenset[str]] = {}
    for name in graph.order():
        lines[name] = frozenset({name}).union(*(lines.get(s, frozenset()) for s in graph.sources.get(name, ())))
    return lines


def _diamond(graph: Graph, lines: dict[str, frozenset[str]], name: str) -> Diamond | None:
    parts: set[str] = set()
    members: set[str] = set()
    for left, right in combinations(graph.sources.get(name, ()), 2):
        both = lines[left] & lines[right]
        nearest = {s for s in both if not any(reader in both for reader in graph.readers(s))}
        parts |= nearest
        members |= {m for m in lines[left] | lines[right] if lines[m] & nearest and m not in nearest}
    if not parts:
        return None
    streams = frozenset(m for m in members if graph.kinds[m] == STREAM)
    return Diamond(name, frozenset(parts), streams | {name})
