"""What reads what: a generic graph, its order, its diamonds, its circles. Values only."""

from __future__ import annotations

from trickle.dag.diamonds import Diamond, diamonds
from trickle.dag.graph import STREAM, TABLE, VIEW, Graph
from trickle.dag.together import together

__all__ = ["STREAM", "TABLE", "VIEW", "Diamond", "Graph", "diamonds", "together"]
