"""Keys of the right side of a semi or anti join that came to be, or are no more."""

from __future__ import annotations

from sqlglot import exp

from trickle.delta.affected import partners
from trickle.delta.weights import WEIGHT_COLUMN
from trickle.plan import (
    WEIGHT,
    Aggregate,
    Column,
    Filter,
    Item,
    Node,
    Project,
    SemiJoin,
    UnionAll,
    all_of,
    both,
    cast,
    col,
    conjuncts,
    keep,
    number,
    references,
    type_of,
    when,
)

_NOW, _CAME = Column("__now", "BIGINT"), Column("__came", "BIGINT")


def flips(join: SemiJoin, now: Node, right: Node) -> tuple[Node, exp.Expr] | None:
    """The keys k with n•(k) = 0 ≠ n°(k) or the other way round, what that does to left rows as their weight; and how
    left rows meet them. None where left rows look at more than keys.

    n° is never counted: n°(k) = n•(k) − Δn(k). So R is read in one state, `now`, its rows that share a key with ΔR.
    """
    pairs, own = [], []
    for condition in conjuncts(join.on):
        if references(condition) <= set(join.right.names):
            own.append(condition)
        elif (pair := partners(join, condition)) is not None:
            pairs.append((condition, pair))
        else:
            return None
    if not pairs:
        return None
    columns = [Column(f"__f{n}", type_of(mine, join.right.columns)) for n, (_, (mine, _)) in enumerate(pairs, start=1)]
    keys = [Item(column, mine) for column, (_, (mine, _)) in zip(columns, pairs, strict=True)]
    counted = Aggregate(
        UnionAll((_counted(now, own, keys, number(1), number(0)), _counted(right, own, keys, number(0), col(WEIGHT)))),
        keep(tuple(columns)),
        tuple(Item(column, exp.Sum(this=col(column.name))) for column in (_NOW, _CAME)),
    )
    is_now = both(col(_NOW.name), number(0), exp.GT)
    was = both(col(_NOW.name), col(_CAME.name), exp.GT)
    found, lost = (number(-1), number(1)) if join.anti else (number(1), number(-1))
    moved = Filter(counted, both(is_now, was, exp.NEQ))
    weight = Item(WEIGHT_COLUMN, when(is_now, found, lost))
    on = all_of(
        type(condition)(this=theirs.copy(), expression=col(column.name))
        for column, (condition, (_, theirs)) in zip(columns, pairs, strict=True)
    )
    return Project(moved, (*keep(tuple(columns)), weight)), on


def _counted(rows: Node, own: list[exp.Expr], keys: list[Item], now: exp.Expr, came: exp.Expr) -> Node:
    kept = Filter(rows, all_of(own)) if own else rows
    numbers = (Item(_NOW, cast(now, "BIGINT")), Item(_CAME, cast(came, "BIGINT")))
    return Project(kept, (*keys, *numbers))
