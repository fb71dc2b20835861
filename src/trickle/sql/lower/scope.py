"""Names in sight: which column a written name means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from trickle.plan import Column, col


@dataclass(frozen=True)
class Visible:
    """A column as the query sees it: its written name and what it is."""

    label: str
    value: exp.Expr
    type: str | None = None


@dataclass(frozen=True)
class Relation:
    """One item of a FROM clause."""

    name: tuple[str, ...]
    """The alias, or the parts of the table's name; empty for a relation without a name."""
    columns: tuple[Visible, ...]
    hidden: frozenset[str] = frozenset()
    """Labels that are seen behind the relation's name only: what USING made one is shown by a relation of its own."""

    def answers_to(self, written: Sequence[str]) -> bool:
        """Does `a.b` or `b` name this relation?"""
        folded = [part.casefold() for part in written]
        return bool(folded) and [part.casefold() for part in self.name][-len(folded) :] == folded

    def find(self, label: str) -> list[Visible]:
        return [c for c in self.columns if c.label.casefold() == label.casefold()]


@dataclass
class Scope:
    """The relations of one FROM clause, and the scope around it for correlated names."""

    relations: list[Relation] = field(default_factory=list)
    outer: Scope | None = None

    def find(self, parts: Sequence[str]) -> list[exp.Expr]:
        """Everything the dotted name may mean here; the rest of the path reaches into a struct."""
        return [_reach(visible.value, path) for visible, path in self.visible(parts)]

    def visible(self, parts: Sequence[str]) -> list[tuple[Visible, Sequence[str]]]:
        """The columns that a dotted name may begin with, and the path that is left of it."""
        for split in range(len(parts) - 1, -1, -1):
            owner, label, path = parts[:split], parts[split], parts[split + 1 :]
            found = self._columns(owner, label)
            if found:
                return [(visible, path) for visible in found]
        return []

    def _columns(self, owner: Sequence[str], label: str) -> list[Visible]:
        if owner:
            return [c for r in self.relations if r.answers_to(owner) for c in r.find(label)]
        return [c for r in self.relations if label.casefold() not in r.hidden for c in r.find(label)]

    def columns(self) -> list[Column]:
        """Every column in sight, those of the scopes around included, as the plan calls it."""
        own = (c for r in self.relations for c in r.columns)
        mine = [Column(c.value.name, c.type) for c in own if isinstance(c.value, exp.Column)]
        return [*mine, *(self.outer.columns() if self.outer is not None else ())]

    def star(self) -> list[Visible]:
        """What `*` stands for."""
        return [c for r in self.relations for c in r.columns if c.label.casefold() not in r.hidden]

    def star_of(self, owner: Sequence[str]) -> list[Visible] | None:
        """What `owner.*` stands for; None if nothing has that name."""
        named = [r for r in self.relations if r.answers_to(owner)]
        return list(named[0].columns) if named else None


def visible(labels: Sequence[str], columns: Sequence[Column]) -> tuple[Visible, ...]:
    return tuple(Visible(label, col(c.name), c.type) for label, c in zip(labels, columns, strict=True))


def _reach(value: exp.Expr, path: Sequence[str]) -> exp.Expr:
    for part in path:
        value = exp.Dot(this=value, expression=exp.to_identifier(part, quoted=True))
    return value.copy()
