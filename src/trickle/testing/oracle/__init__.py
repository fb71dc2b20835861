"""The oracle: random queries over random histories, judged by an engine."""

from __future__ import annotations

from trickle.testing.oracle.engine import DuckEngine, Engine
from trickle.testing.oracle.history import SCHEMAS, Step, growing_history, random_history
from trickle.testing.oracle.queries import AGGREGATES, CONSTRUCTS, Generator, aggregate_query
from trickle.testing.oracle.stepped import SteppedWorld
from trickle.testing.oracle.stored import Drift, StoredWorld
from trickle.testing.oracle.world import Mismatch, World

__all__ = [
    "AGGREGATES",
    "CONSTRUCTS",
    "SCHEMAS",
    "Drift",
    "DuckEngine",
    "Engine",
    "Generator",
    "Mismatch",
    "Step",
    "SteppedWorld",
    "StoredWorld",
    "World",
    "aggregate_query",
    "growing_history",
    "random_history",
]
