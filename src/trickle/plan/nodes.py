"""The operators of a plan: frozen, validated, compared by content.

    Scan  Constant                      leaves
    Project  Filter  Expand  Generate   linear: row by row
    UnionAll  Join                      linear in each input
    OuterJoin  SemiJoin                 a row's fate depends on the other side
    Aggregate  Distinct  SetOp          a row's fate depends on its equals
    Window  TopK                        a row's fate depends on its neighbours

A node's output columns are known by name, never by position; names are unique within a plan, so a join needs
no qualifiers and the order of its inputs carries no meaning. A delta is an ordinary plan with the column
`__w`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Self

from sqlglot import exp

from trickle.plan.columns import Column
from trickle.plan.expressions import col, references
from trickle.plan.names import WEIGHT


class Version(Enum):
    """Which state of a table a scan reads."""

    BEFORE = "before"
    """At the frontier."""
    AFTER = "after"
    """At the target."""
    CHANGES = "changes"
    """What lies between, one row per copy, each with the weight +1 or −1."""


@dataclass(frozen=True)
class Item:
    """A computed column: `expression AS column`."""

    column: Column
    expression: exp.Expr

    @property
    def name(self) -> str:
        return self.column.name


@dataclass(frozen=True)
class Node:
    """An operator."""

    @property
    def inputs(self) -> tuple[Node, ...]:
        raise NotImplementedError

    @property
    def columns(self) -> tuple[Column, ...]:
        raise NotImplementedError

    def with_inputs(self, *inputs: Node) -> Self:
        raise NotImplementedError

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(c.name for c in self.columns)


@dataclass(frozen=True)
class Leaf(Node):
    @property
    def inputs(self) -> tuple[Node, ...]:
        return ()

    def with_inputs(self, *inputs: Node) -> Self:
        return self


@dataclass(frozen=True)
class Unary(Node):
    input: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns

    def with_inputs(self, *inputs: Node) -> Self:
        return replace(self, input=inputs[0])


@dataclass(frozen=True)
class Binary(Node):
    left: Node
    right: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.left, self.right)

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.left.columns

    def with_inputs(self, *inputs: Node) -> Self:
        return replace(self, left=inputs[0], right=inputs[1])


@dataclass(frozen=True)
class Field:
    """A column of a scan and the column of the table it reads."""

    column: Column
    source: str


@dataclass(frozen=True)
class Scan(Leaf):
    """The rows of a table in one of its versions."""

    table: str
    fields: tuple[Field, ...]
    version: Version = Version.AFTER

    @property
    def columns(self) -> tuple[Column, ...]:
        weight = (Column(WEIGHT, "INT"),) if self.version is Version.CHANGES else ()
        return tuple(f.column for f in self.fields) + weight


@dataclass(frozen=True)
class Constant(Leaf):
    """Rows written in the query itself; without rows, the empty relation ∅."""

    header: tuple[Column, ...]
    rows: tuple[tuple[exp.Expr, ...], ...] = ()

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.header


@dataclass(frozen=True)
class Project(Unary):
    """π"""

    items: tuple[Item, ...]

    def __post_init__(self) -> None:
        _reads(self, self.input, (i.expression for i in self.items))

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(i.column for i in self.items)


@dataclass(frozen=True)
class Filter(Unary):
    """σ"""

    condition: exp.Expr

    def __post_init__(self) -> None:
        _reads(self, self.input, [self.condition])


@dataclass(frozen=True)
class Join(Node):
    """⋈, inner, of any number of inputs; TRUE as condition makes it a cross join."""

    parts: tuple[Node, ...]
    on: exp.Expr

    def __post_init__(self) -> None:
        _disjoint(self, self.parts)

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.parts

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(c for part in self.parts for c in part.columns)

    def with_inputs(self, *inputs: Node) -> Self:
        return replace(self, parts=inputs)


@dataclass(frozen=True)
class OuterJoin(Binary):
    """⟕, or ⟗ when `full`. (A right join is a left join seen from the other side.)"""

    on: exp.Expr
    full: bool = False

    def __post_init__(self) -> None:
        _disjoint(self, (self.left, self.right))

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.left.columns + self.right.columns


@dataclass(frozen=True)
class SemiJoin(Binary):
    """⋉: the left rows that match some right row; ▷ when `anti`: those that match none.

    `x NOT IN (SELECT y …)` is the anti join on `x = y OR (x = y) IS NULL`.
    """

    on: exp.Expr
    anti: bool = False

    def __post_init__(self) -> None:
        _disjoint(self, (self.left, self.right))


@dataclass(frozen=True)
class Aggregate(Unary):
    """γ: one row per group; without keys exactly one row, even of nothing."""

    keys: tuple[Item, ...]
    calls: tuple[Item, ...]

    def __post_init__(self) -> None:
        _reads(self, self.input, (i.expression for i in self.keys + self.calls))

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(i.column for i in self.keys + self.calls)


@dataclass(frozen=True)
class Distinct(Unary):
    """δ"""


@dataclass(frozen=True)
class UnionAll(Node):
    """⊎ of inputs with the same column names."""

    parts: tuple[Node, ...]

    def __post_init__(self) -> None:
        _alike(self, self.parts)

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.parts

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.parts[0].columns

    def with_inputs(self, *inputs: Node) -> Self:
        return replace(self, parts=inputs)


class SetOpKind(Enum):
    INTERSECT = "INTERSECT"
    EXCEPT = "EXCEPT"


@dataclass(frozen=True)
class SetOp(Binary):
    """∩ or ∖ of inputs with the same column names; with `all` copies count."""

    kind: SetOpKind
    all: bool = False

    def __post_init__(self) -> None:
        _alike(self, (self.left, self.right))


@dataclass(frozen=True)
class Window(Unary):
    """ω: every input row and what the functions say of it within its partition."""

    partition: tuple[exp.Expr, ...]
    calls: tuple[Item, ...]

    def __post_init__(self) -> None:
        _reads(self, self.input, (*self.partition, *(i.expression for i in self.calls)))

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns + tuple(i.column for i in self.calls)


@dataclass(frozen=True)
class TopK(Unary):
    """The rows from `offset` to `offset + limit` of the input in this order, which ranks all columns."""

    order: tuple[exp.Ordered, ...]
    limit: int
    offset: int = 0


@dataclass(frozen=True)
class Expand(Unary):
    """Each row once per projection: the copies that grouping sets group."""

    projections: tuple[tuple[Item, ...], ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(i.column for i in self.projections[0])


@dataclass(frozen=True)
class Generate(Unary):
    """Each row with every row its generator makes of it; `outer` keeps rows that make none."""

    generator: exp.Expr
    made: tuple[Column, ...]
    outer: bool = False

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns + self.made


def empty(columns: Sequence[Column]) -> Constant:
    """∅ with these columns."""
    return Constant(tuple(columns))


def is_empty(node: Node) -> bool:
    return isinstance(node, Constant) and not node.rows


def keep(columns: Sequence[Column]) -> tuple[Item, ...]:
    """Items that pass columns on unchanged."""
    return tuple(Item(c, col(c.name)) for c in columns)


def _reads(node: Node, source: Node, expressions: Iterable[exp.Expr]) -> None:
    known = set(source.names)
    for expression in expressions:
        missing = references(expression) - known
        if missing:
            raise ValueError(f"{type(node).__name__} reads {sorted(missing)}, its input has {sorted(known)}")


def _disjoint(node: Node, parts: Sequence[Node]) -> None:
    names = [n for part in parts for n in part.names]
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise ValueError(f"{type(node).__name__} has the columns {twice} on both sides")


def _alike(node: Node, parts: Sequence[Node]) -> None:
    for part in parts[1:]:
        if set(part.names) != set(parts[0].names):
            raise ValueError(f"{type(node).__name__} of {parts[0].names} and {part.names}")
