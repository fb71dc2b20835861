"""Stateful operators below others, cut out: each is kept as an intermediate that the rest reads like a table.

    γ(γ(R) ⋈ S) = γ(I ⋈ S)  with  I = γ(R)

An intermediate is stored and maintained like a stream table of its own, so that what stands above it reads its
change, and its state before and after, without computing either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from trickle.delta.aggregate import as_aggregate
from trickle.delta.simplify import prune_columns, push_filters
from trickle.delta.state.algebra import Rescan, algebra
from trickle.delta.state.storage import Storage
from trickle.plan import (
    Aggregate,
    Column,
    Distinct,
    Field,
    Filter,
    Item,
    Join,
    Node,
    OuterJoin,
    Project,
    Scan,
    SemiJoin,
    SetOp,
    TopK,
    Window,
    col,
    rebuild,
    tables,
)
from trickle.plan.canonical import canonical

_LOOKING = (Join, OuterJoin, SemiJoin, Aggregate, Distinct, SetOp, Window, TopK)
"""Operators that may look at the state of what they read, not only at its change."""
Naming = Callable[[Node], str]
"""The name of the intermediate that holds what this plan, whose columns say nothing, gives."""


@dataclass(frozen=True)
class Intermediate:
    """An operator that is stored, as the rest of the query knows it."""

    name: str
    operator: str
    whole: Node
    """What it holds, from the tables."""
    plan: Node
    """The same, over the intermediates below it; columns `c1`, `c2`, …."""

    @property
    def labels(self) -> tuple[str, ...]:
        return self.plan.names


@dataclass(frozen=True)
class Cut:
    """What a stream table stores, over its intermediates; each of those stands behind the ones that it reads."""

    storage: Storage
    intermediates: tuple[Intermediate, ...]


def cut(storage: Storage, known: frozenset[str], name: Naming, keep: Callable[[str], bool] = lambda _: True) -> Cut:
    """The storage with every stateful operator below its topmost one cut out, as far as `keep` agrees.

    Operators that read anything but `known` tables (a recursion) stay where they are.
    """
    cutter = _Cutter(known, name, keep)
    topmost = storage.aggregate or storage.top
    if topmost is None:
        plan = cutter.top(prune_columns(push_filters(storage.plan)))
        return Cut(replace(storage, plan=plan), tuple(cutter.found.values()))
    pruned = prune_columns(push_filters(topmost))
    assert isinstance(pruned, type(topmost))
    below = cutter.below(pruned.input, _looks(topmost))
    plan = rebuild(storage.plan, lambda node: _replaced(node, topmost, below))
    stored = replace(topmost, input=below)
    if isinstance(stored, Aggregate):
        return Cut(replace(storage, aggregate=stored, plan=plan), tuple(cutter.found.values()))
    return Cut(replace(storage, top=stored, plan=plan), tuple(cutter.found.values()))


def _replaced(node: Node, topmost: Node, below: Node) -> Node:
    grouped = as_aggregate(node) if isinstance(node, Distinct) else node
    return node.with_inputs(below) if grouped == topmost else node


@dataclass
class _Cutter:
    known: frozenset[str]
    name: Naming
    keep: Callable[[str], bool]
    found: dict[str, Intermediate] = field(default_factory=dict)

    def top(self, node: Node) -> Node:
        """The topmost stateful operator is what the stream table itself stores."""
        if isinstance(node, Project | Filter):
            return node.with_inputs(self.top(node.input))
        return node.with_inputs(*(self.below(child, _looks(node)) for child in node.inputs))

    def below(self, node: Node, looked_at: bool) -> Node:
        if _pays(node, looked_at) and self.reads_known(node):
            whole = canonical(node)
            name = self.name(whole)
            if self.keep(name):
                if name not in self.found:
                    self.found[name] = self.intermediate(name, node, whole)
                return _scan(name, node.columns)
        looked_at = looked_at or _looks(node)
        return node.with_inputs(*(self.below(child, looked_at) for child in node.inputs))

    def intermediate(self, name: str, node: Node, whole: Node) -> Intermediate:
        inner = node.with_inputs(*(self.below(child, _looks(node)) for child in node.inputs))
        items = (Item(Column(f"c{n}", c.type), col(c.name)) for n, c in enumerate(node.columns, start=1))
        return Intermediate(name, type(node).__name__, whole, Project(inner, tuple(items)))

    def reads_known(self, node: Node) -> bool:
        read = tables(node)
        return bool(read) and read <= self.known


def _scan(name: str, columns: tuple[Column, ...]) -> Scan:
    return Scan(name, tuple(Field(c, f"c{n}") for n, c in enumerate(columns, start=1)))


def _pays(node: Node, looked_at: bool) -> bool:
    """Groups are followed by their state; other operators are worth storing where somebody looks at theirs."""
    return isinstance(node, Aggregate | Distinct) or (looked_at and isinstance(node, SetOp | Window | TopK))


def _looks(node: Node) -> bool:
    """May the operator look at the state of its input? A sum never does."""
    if isinstance(node, Aggregate):
        found = [algebra(item, node.input.columns, True) for item in node.calls]
        return any(isinstance(a, Rescan) or a.stale is not None for a in found)
    return isinstance(node, _LOOKING)
