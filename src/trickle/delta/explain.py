"""What is done for each operator of a plan, and why."""

from __future__ import annotations

from dataclasses import dataclass

from trickle.delta.state.storage import Storage
from trickle.plan import (
    Aggregate,
    Constant,
    Distinct,
    Expand,
    Filter,
    Generate,
    Join,
    Node,
    OuterJoin,
    Project,
    Scan,
    SemiJoin,
    SetOp,
    TopK,
    UnionAll,
    Window,
    share,
    tables,
    walk,
)


@dataclass(frozen=True)
class Strategy:
    """How the change of one operator is computed."""

    operator: str
    strategy: str
    """`changes`, `constant`, `linear`, `terms`, `matches`, `rescan`, `algebraic`, `rederive` or `recompute`."""
    reason: str
    tables: tuple[str, ...]
    """What it reads."""


_LINEAR = ("linear", "each changed row is transformed by itself")
_STRATEGIES: dict[type[Node], tuple[str, str]] = {
    Scan: ("changes", "the change feed of the table"),
    Constant: ("constant", "never changes"),
    Project: _LINEAR,
    Filter: _LINEAR,
    UnionAll: _LINEAR,
    Expand: _LINEAR,
    Generate: _LINEAR,
    Join: ("terms", "one term per changed input, joined with the others before or after"),
    OuterJoin: ("matches", "the inner join's terms, and rows that found or lost their only partner"),
    SemiJoin: ("matches", "changed rows, and old rows that found or lost their match"),
    Aggregate: ("rescan", "affected groups, before and after"),
    Distinct: ("rescan", "affected rows, before and after"),
    SetOp: ("rescan", "affected rows of both sides, before and after"),
    Window: ("rescan", "affected partitions, before and after"),
    TopK: ("recompute", "the first rows before and after"),
}


def strategies(plan: Node, storage: Storage | None = None) -> tuple[Strategy, ...]:
    """One entry per operator, from the top down; shared parts once."""
    seen: set[int] = set()
    found = []
    for node in walk(share(plan)):
        if id(node) not in seen:
            seen.add(id(node))
            found.append(_of(node, storage))
    return tuple(found)


def _of(node: Node, storage: Storage | None) -> Strategy:
    strategy, reason = _STRATEGIES[type(node)]
    if storage is not None and _is_stored(node, storage):
        strategy, reason = storage.strategy, storage.reason
    elif isinstance(node, Window) and not node.partition:
        strategy, reason = "recompute", "without PARTITION BY all rows are one partition"
    elif isinstance(node, Aggregate) and not node.keys:
        strategy, reason = "recompute", "without GROUP BY all rows are one group"
    return Strategy(type(node).__name__, strategy, reason, tuple(sorted(tables(node))))


def _is_stored(node: Node, storage: Storage) -> bool:
    """Is this the operator whose state the stream table stores?"""
    stored = storage.aggregate
    if isinstance(node, TopK):
        return node == storage.top
    if stored is None or not isinstance(node, Aggregate | Distinct):
        return False
    return node == stored or (isinstance(node, Distinct) and node.input == stored.input and not stored.calls)
