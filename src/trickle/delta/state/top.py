"""The next state of a stored top-k.

    M   = stored ⊎ ΔR             net, each row with its number of copies
    new = τ(M)                    unless a stored row went while there were rows behind them: then τ(R•)
    Δstored = new − stored

Rows that were not among the first and went are of no consequence; a row that came is, if it ranks before the last.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from trickle.delta.differentiate import raw_delta, settle
from trickle.delta.rules import RULES
from trickle.delta.simplify import flatten, simplify
from trickle.delta.state.storage import Storage
from trickle.delta.weights import consolidate, difference, minus
from trickle.plan import (
    WEIGHT,
    Aggregate,
    Column,
    Filter,
    Item,
    Node,
    Project,
    TopK,
    UnionAll,
    Window,
    after,
    both,
    col,
    hidden,
    keep,
    number,
    when,
)

LOST = Column(hidden("lost"), "INT")
"""1 for a row that says: a stored row went, and what comes after it is not known."""
_HELD = Column("__held", "BIGINT")
_MOVED = Column("__moved", "BIGINT")
_STORED = Column("__stored", "BIGINT")
_RANK = Column("__rank", "BIGINT")


def first(storage: Storage) -> Node:
    """What is stored, from scratch: τ(R•)"""
    return stored_columns(storage, after(_top(storage)))


def recomputed(storage: Storage) -> Node:
    """τ(R•) − stored"""
    return difference(first(storage), storage.scan())


def merged(storage: Storage, unchanged: frozenset[str] = frozenset()) -> Node:
    """The net change of the stored rows, `LOST` = 0; or, `LOST` = 1, rows that say that it cannot be told this way."""
    top = _top(storage)
    change = raw_delta(flatten(top.input), unchanged, RULES)
    all_rows = _counted(top, UnionAll((_marked(_held_rows(storage), held=True), _marked(change, held=False))))
    new = _weighted(stored_columns(storage, _first_copies(top, all_rows)))
    moved = consolidate(UnionAll((new, minus(storage.scan()))))
    unknown = _weighted(stored_columns(storage, _as_copies(_lost(top, all_rows))))
    found = UnionAll((_flagged(moved, 0), _flagged(unknown, 1)))
    return simplify(settle(flatten(found), unchanged))


def stored_columns(storage: Storage, rows: Node) -> Node:
    """The stored columns over those of the top-k, and the weight where there is one."""
    passed = keep([c for c in rows.columns if c.name == WEIGHT])
    return Project(rows, (*storage.outputs, *(Item(h.column, h.value) for h in storage.hidden), *passed))


def _held_rows(storage: Storage) -> Node:
    items = tuple(Item(c, col(storage.stored_as(c.name))) for c in _top(storage).columns)
    return Project(storage.scan(), items)


def _marked(rows: Node, held: bool) -> Node:
    """Each row with how many copies it adds to what is stored, and to what changed."""
    columns = keep([c for c in rows.columns if c.name != WEIGHT])
    one, none = Item(_HELD, number(1)), Item(_HELD, number(0))
    moved = Item(_MOVED, number(0) if held else col(WEIGHT))
    return Project(rows, (*columns, one if held else none, moved))


def _counted(top: TopK, rows: Node) -> Node:
    totals = tuple(Item(c, exp.Sum(this=col(c.name))) for c in (_HELD, _MOVED))
    return Aggregate(rows, keep(top.columns), totals)


def _lost(top: TopK, rows: Node) -> Node:
    """Rows that were stored and have become fewer, where there may be rows behind the stored ones."""
    all_held = exp.Window(this=exp.Sum(this=col(_HELD.name)))
    counted = Window(rows, (), (Item(_STORED, all_held),))
    was_held = both(col(_HELD.name), number(0), exp.GT)
    is_full = both(col(_STORED.name), number(top.limit), exp.GTE)
    return Filter(counted, exp.and_(was_held, both(col(_MOVED.name), number(0), exp.LT), is_full))


def _first_copies(top: TopK, rows: Node) -> Node:
    """The first rows, as many copies of the last one as there is room for, as weights."""
    copies = _as_copies(rows)
    present = Filter(copies, both(col(WEIGHT), number(0), exp.GT))
    firsts = replace(top, input=present)
    spec = exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW")
    order = exp.Order(expressions=[o.copy() for o in top.order])
    running = exp.Window(this=exp.Sum(this=col(WEIGHT)), order=order, spec=spec)
    ranked = Window(firsts, (), (Item(_RANK, running),))
    before = exp.Sub(this=col(_RANK.name), expression=col(WEIGHT))
    room = exp.Sub(this=number(top.limit), expression=exp.paren(before))
    fitting = when(both(col(_RANK.name), number(top.limit), exp.GT), room, col(WEIGHT))
    weighed = Project(ranked, (*keep(top.columns), Item(Column(WEIGHT, "BIGINT"), fitting)))
    return Filter(weighed, both(col(WEIGHT), number(0), exp.GT))


def _as_copies(rows: Node) -> Node:
    columns = keep([c for c in rows.columns if c not in (_HELD, _MOVED, _STORED)])
    total = exp.Add(this=col(_HELD.name), expression=col(_MOVED.name))
    return Project(rows, (*columns, Item(Column(WEIGHT, "BIGINT"), total)))


def _weighted(rows: Node) -> Node:
    columns = [c for c in rows.columns if c.name != WEIGHT]
    return Project(rows, (*keep(columns), Item(Column(WEIGHT, "BIGINT"), col(WEIGHT))))


def _flagged(rows: Node, flag: int) -> Node:
    return Project(rows, (*keep(rows.columns), Item(LOST, number(flag))))


def _top(storage: Storage) -> TopK:
    if storage.top is None:
        raise ValueError("this storage has no top-k")
    return storage.top
