"""A column of a node's output."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A name that is unique in its plan, and the Spark type where it is known."""

    name: str
    type: str | None = None
