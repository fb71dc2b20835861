"""Statements on user-defined functions, as values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CreateFunction:
    name: str
    parameters: str
    """As they were written: `a INT, b STRING`."""
    returns: str
    body: str
    deterministic: bool | None = None
    or_replace: bool = False
    if_not_exists: bool = False


@dataclass(frozen=True)
class DropFunction:
    name: str
    if_exists: bool = False
