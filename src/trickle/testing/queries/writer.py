"""What all parts of a query share: chance, names, the tables and CTEs there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from trickle.testing.queries.types import Column, Field, Query, Scope

T = TypeVar("T")
Tables = Mapping[str, tuple[Column, ...]]


@dataclass
class Writer:
    """Decides by `random` alone, so that a seed is a query."""

    random: Random
    tables: Tables
    compose: Callable[[Writer, int], Query]
    """Writes a whole query of at most this many levels."""
    room: int = 4
    """How many more relations there may be, about."""
    ctes: list[tuple[str, tuple[Column, ...]]] = field(default_factory=list)
    wordings: list[tuple[str, str]] = field(default_factory=list)
    """Parts of the text that DuckDB has no words for, and others that mean the same."""
    aliases: int = 0

    def pick(self, *choices: T) -> T:
        return self.random.choice(choices)

    def write(self, *forms: Callable[[], str]) -> str:
        """One of the forms; the others are never written."""
        return self.random.choice(forms)()

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def some(self, choices: Sequence[T], least: int, most: int) -> list[T]:
        """Some of the choices, in any order."""
        count = min(len(choices), self.random.randint(least, most))
        return self.random.sample(list(choices), count)

    def alias(self) -> str:
        self.aliases += 1
        return f"q{self.aliases}"

    def has_room(self, share: float = 1.0) -> bool:
        """May another relation be read, and is it wanted?"""
        return self.room > 0 and self.chance(share)

    def query(self, depth: int) -> Query:
        return self.compose(self, depth)

    def reworded(self, text: str) -> str:
        """The text without what only Spark has words for; what was written last may hold what was written before."""
        for part, same in reversed(self.wordings):
            text = text.replace(part, same)
        return text


def fields(alias: str, columns: Sequence[Column]) -> Scope:
    return tuple(Field(f"{alias}.{c.name}", c.type) for c in columns)
