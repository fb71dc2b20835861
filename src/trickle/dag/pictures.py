"""A graph as text: a tree of levels, Mermaid, Graphviz or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from .graph import STREAM, TABLE, VIEW, Graph

_MERMAID = {TABLE: '[("{}")]', VIEW: '["{}"]', STREAM: '(["{}"])'}
_SHAPES = {TABLE: "cylinder", VIEW: "box", STREAM: "ellipse"}


def as_text(graph: Graph) -> str:
    """What nobody reads at the top, below each what it reads; what was shown before is not unfolded again.

    >>> print(as_text(Graph().put("orders", TABLE).put("totals", STREAM, ["orders"])))
    totals (stream table)
    └── orders (table)
    """
    shown: set[str] = set()
    tops = [name for name in sorted(graph.kinds) if not graph.readers(name)]
    return "\n".join(line for top in tops for line in tree(graph, top, shown))


def tree(graph: Graph, name: str, shown: set[str] | None = None, lead: str = "") -> list[str]:
    """A node and what it reads, a line each."""
    shown = set() if shown is None else shown
    again = name in shown and bool(graph.sources.get(name))
    lines = [f"{name} ({graph.kinds[name]}{', see above' if again else ''})"]
    shown.add(name)
    sources = () if again else graph.sources.get(name, ())
    for n, source in enumerate(sources):
        is_last = n == len(sources) - 1
        first, *rest = tree(graph, source, shown)
        lines.append(f"{lead}{'└── ' if is_last else '├── '}{first}")
        lines += [f"{lead}{'    ' if is_last else '│   '}{line}" for line in rest]
    return lines


def as_mermaid(graph: Graph) -> str:
    """
    >>> print(as_mermaid(Graph().put("orders", TABLE).put("totals", STREAM, ["orders"])))
    graph LR
      n0[("orders")]
      n1(["totals"])
      n0 --> n1
    """
    ids = {name: f"n{n}" for n, name in enumerate(graph.order())}
    nodes = [f"  {ids[name]}{_MERMAID[graph.kinds[name]].format(name.replace(chr(34), '#quot;'))}" for name in ids]
    return "\n".join(["graph LR", *nodes, *(f"  {ids[a]} --> {ids[b]}" for a, b in sorted(graph.edges()))])


def as_dot(graph: Graph) -> str:
    """
    >>> print(as_dot(Graph().put("totals", STREAM, ["orders"])))
    digraph lake {
      rankdir=LR;
      "orders" [shape=cylinder];
      "totals" [shape=ellipse];
      "orders" -> "totals";
    }
    """
    quoted = {name: '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"' for name in graph.order()}
    nodes = [f"  {q} [shape={_SHAPES[graph.kinds[name]]}];" for name, q in quoted.items()]
    edges = [f"  {quoted[a]} -> {quoted[b]};" for a, b in sorted(graph.edges())]
    return "\n".join(["digraph lake {", "  rankdir=LR;", *nodes, *edges, "}"])


def as_json(graph: Graph) -> str:
    nodes = [{"name": name, "kind": graph.kinds[name]} for name in graph.order()]
    return json.dumps({"nodes": nodes, "edges": [{"source": a, "reader": b} for a, b in sorted(graph.edges())]})


PICTURES: Mapping[str, Callable[[Graph], str]] = {
    "text": as_text,
    "mermaid": as_mermaid,
    "dot": as_dot,
    "json": as_json,
}
