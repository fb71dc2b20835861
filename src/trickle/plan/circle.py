"""Relations that read one another in a circle, as one recursion: each row says to which of them it belongs.

    R = {(i, row) | row ∈ Qᵢ(sources, R₁ … Rₙ)}, the least;  Rᵢ = π(σ(member = i, R))

The columns of all members stand side by side; a row has NULL in those of the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count

from sqlglot import exp

from trickle.plan.columns import Column
from trickle.plan.expressions import both, cast, col, null, number
from trickle.plan.monotone import Law, NotMonotone
from trickle.plan.names import hidden
from trickle.plan.nodes import Distinct, Field, Filter, Item, Node, Project, Scan, UnionAll, empty
from trickle.plan.recursion import Recursion
from trickle.plan.tree import rebuild, tables

MEMBER = hidden("member")
"""The column that says to which member a row belongs."""


@dataclass(frozen=True)
class Member:
    """A relation of the circle."""

    label: str
    names: frozenset[str]
    """The names that plans know it by."""
    plan: Node
    labels: tuple[str, ...]
    """The names of its columns, in the order of the plan's, as scans know them."""
    types: tuple[str, ...]


class Uneven(Exception):
    """A member that makes the circle have no least solution, or none that can be found, and why."""

    def __init__(self, member: str, why: str) -> None:
        super().__init__(f"{member}: {why}")
        self.member, self.why = member, why


@dataclass(frozen=True)
class Circle:
    members: tuple[Member, ...]

    @cached_property
    def recursion(self) -> Recursion:
        """The circle as one recursion; `Uneven` if a member is not monotone in the others, or keeps copies."""
        fresh = count()
        bases: list[Node] = []
        steps: list[Node] = []
        for n, member in enumerate(self.members):
            for branch in _branches(self._lawful(member)):
                reads = bool(self._names & tables(branch))
                place = steps if reads else bases
                place.append(
                    self._as_row(n, rebuild(branch, lambda node: self._read(node, fresh)) if reads else branch)
                )
        label = ", ".join(m.label for m in self.members)
        table = hidden("circle")
        return Recursion(table, label, self._union(bases), self._union(steps), distinct=True)

    @property
    def columns(self) -> tuple[Column, ...]:
        """All of a row."""
        return (Column(MEMBER, "INT"), *(c for n in range(len(self.members)) for c in self.columns_of(n)))

    def columns_of(self, n: int) -> tuple[Column, ...]:
        """Those that the n-th member has in a row."""
        return tuple(Column(hidden(f"{n}_{place}"), type) for place, type in enumerate(self.members[n].types))

    @property
    def _names(self) -> frozenset[str]:
        return frozenset[str]().union(*(m.names for m in self.members))

    def _lawful(self, member: Member) -> Node:
        if not _drops_copies(member.plan):
            raise Uneven(
                member.label, "it keeps copies of rows, which may go round for ever: write SELECT DISTINCT or UNION"
            )
        try:
            return Law(self._names, distinct=True).checked(member.plan)
        except NotMonotone as found:
            why = (
                f"it reads the circle {found.where}"
                if found.where
                else f"{found.construct} is not supported in a circle"
            )
            raise Uneven(member.label, why) from None

    def _union(self, parts: Sequence[Node]) -> Node:
        if not parts:
            return empty(self.columns)
        return parts[0] if len(parts) == 1 else UnionAll(tuple(parts))

    def _as_row(self, n: int, plan: Node) -> Node:
        own = dict(zip(self.columns_of(n), plan.names, strict=True))
        items = [Item(Column(MEMBER, "INT"), number(n))]
        for column in self.columns[1:]:
            assert column.type is not None
            value = col(own[column]) if column in own else null()
            items.append(Item(column, cast(value, column.type)))
        return Project(plan, tuple(items))

    def _read(self, node: Node, fresh: Iterator[int]) -> Node:
        """A scan of a member as a part of the recursion, under column names of its own."""
        n = next((n for n, m in enumerate(self.members) if isinstance(node, Scan) and node.table in m.names), None)
        if n is None or not isinstance(node, Scan):
            return node
        number_of = next(fresh)
        by_label = dict(zip(self.members[n].labels, self.columns_of(n), strict=True))
        here = {
            f.source: Column(f"{by_label[f.source].name}_{number_of}", f.column.type)
            for f in node.fields
            if f.source in by_label
        }
        tag = Column(f"{MEMBER}_{number_of}", "INT")
        fields = (Field(tag, MEMBER), *(Field(c, by_label[source].name) for source, c in here.items()))
        mine = Filter(Scan(hidden("circle"), fields), both(col(tag.name), number(n), exp.EQ))
        # Hidden columns of a stored table are read by nobody, but a scan of all columns has them.
        values = {source: col(c.name) for source, c in here.items()}
        return Project(mine, tuple(Item(f.column, values.get(f.source, null())) for f in node.fields))


def _branches(node: Node) -> Iterator[Node]:
    """The parts that make it up; copies do not count."""
    match node:
        case Distinct():
            yield from _branches(node.input)
        case UnionAll():
            for part in node.parts:
                # In the order of the first part's columns: a union goes by name.
                same = part.names == node.names
                yield from _branches(part if same else Project(part, tuple(Item(c, col(c.name)) for c in node.columns)))
        case Project(input=Distinct() | UnionAll()):
            yield from (replace(node, input=part) for part in _branches(node.input))
        case _:
            yield node


def _drops_copies(node: Node) -> bool:
    """Is every row there once?"""
    if isinstance(node, Project):
        kept = {i.expression.name for i in node.items if isinstance(i.expression, exp.Column)}
        return kept >= set(node.input.names) and _drops_copies(node.input)
    return isinstance(node, Distinct)
