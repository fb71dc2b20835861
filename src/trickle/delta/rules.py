"""The rule of every operator."""

from __future__ import annotations

from collections.abc import Callable

from trickle.delta import aggregate, join, linear, outer_join, scan, semi_join, set_op, top_k, window
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
)

Rule = Callable[..., Node]

RULES: dict[type[Node], Rule] = {
    Scan: scan.scan,
    Constant: scan.constant,
    Project: linear.project,
    Filter: linear.filter,
    UnionAll: linear.union_all,
    Expand: linear.expand,
    Generate: linear.generate,
    Join: join.delta,
    OuterJoin: outer_join.delta,
    SemiJoin: semi_join.delta,
    Aggregate: aggregate.delta,
    Distinct: aggregate.distinct,
    SetOp: set_op.delta,
    Window: window.delta,
    TopK: top_k.delta,
}
