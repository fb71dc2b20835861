"""Recursive relations: what WITH RECURSIVE defines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from trickle.plan.columns import Column
from trickle.plan.nodes import Field, Node, Scan, UnionAll, Version
from trickle.plan.tree import tables


@dataclass(frozen=True)
class Recursion:
    """R = base ∪ step(R), the least; ⊎ for ∪ where copies count.

    Plans read it like a table: by its name, in each of its versions.
    """

    table: str
    """The name that scans know it by."""
    label: str
    """The name that the query gave it."""
    base: Node
    step: Node
    distinct: bool
    """UNION; else UNION ALL."""

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.base.columns

    @property
    def sources(self) -> frozenset[str]:
        """The tables and recursions that it reads, itself left out."""
        return (tables(self.base) | tables(self.step)) - {self.table}

    @property
    def linear(self) -> bool:
        """Does each row of it stem from one row of it at most?"""
        return _degree(self.step, self.table) == 1

    def scan(self, version: Version = Version.AFTER) -> Scan:
        return scan_of(self.table, self.columns, version)


def scan_of(table: str, columns: Iterable[Column], version: Version = Version.AFTER) -> Scan:
    return Scan(table, tuple(Field(c, c.name) for c in columns), version)


def _degree(node: Node, table: str) -> int:
    """How many rows of the table a row of this may stem from."""
    if isinstance(node, Scan):
        return int(node.table == table)
    below = [_degree(child, table) for child in node.inputs]
    return max(below) if isinstance(node, UnionAll) else sum(below)


def needed(recursions: Iterable[Recursion], read: frozenset[str]) -> tuple[Recursion, ...]:
    """Those that are read, directly or by one another, each after those it reads."""
    found: list[Recursion] = []
    for recursion in reversed(tuple(recursions)):
        if recursion.table in read:
            found.append(recursion)
            read |= recursion.sources
    return tuple(reversed(found))


def settled(recursions: Iterable[Recursion], unchanged: frozenset[str]) -> frozenset[str]:
    """The unchanged tables, and with them the recursions that read nothing else."""
    for recursion in recursions:
        if recursion.sources <= unchanged:
            unchanged |= {recursion.table}
    return unchanged
