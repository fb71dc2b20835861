"""Which plans only gain rows when their tables do."""

from __future__ import annotations

from trickle.plan import Constant, Expand, Filter, Generate, Join, Node, Project, Scan, UnionAll, walk

_MONOTONE = (Constant, Expand, Filter, Generate, Join, Project, Scan, UnionAll)


def only_adds(plan: Node) -> bool:
    """R ⊆ R• implies f(R) ⊆ f(R•), and the rules of all operators write no row to be taken away again."""
    return all(isinstance(node, _MONOTONE) for node in walk(plan))
