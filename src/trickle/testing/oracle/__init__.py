"""The oracle: random queries over random histories, judged by an engine."""

from __future__ import annotations

from trickle.testing.oracle.engine import DuckEngine, Engine, InlineEngine
from trickle.testing.oracle.history import SCHEMAS, Step, random_history
from trickle.testing.oracle.queries import CONSTRUCTS, Generator
from trickle.testing.oracle.world import Mismatch, World

__all__ = [
    "CONSTRUCTS",
    "SCHEMAS",
    "DuckEngine",
    "Engine",
    "Generator",
    "InlineEngine",
    "Mismatch",
    "Step",
    "World",
    "random_history",
]
