"""The next state of a stored aggregate.

new = γ_merge(stored ⋉ G  ⊎  ΔR)      for groups whose state can be merged
    ⊎ γ(R• ⋉ stale groups)            for those that lost an extremum or a number that cannot be taken back
Δstored = new − stored ⋉ G            G = keys(ΔR); groups of count 0 are not in new, unless there are no keys
"""

from __future__ import annotations

from sqlglot import exp

from trickle.delta.affected import affected, restrict
from trickle.delta.differentiate import raw_delta, settle
from trickle.delta.growth import only_adds
from trickle.delta.rules import RULES
from trickle.delta.simplify import flatten, simplify
from trickle.delta.state import top
from trickle.delta.state.algebra import Algebra
from trickle.delta.state.cells import Cell, Merge, came, left
from trickle.delta.state.storage import COUNT, Storage
from trickle.delta.weights import consolidate, difference
from trickle.plan import (
    TRUE,
    WEIGHT,
    Aggregate,
    Column,
    Filter,
    Item,
    Node,
    Project,
    SemiJoin,
    UnionAll,
    after,
    any_of,
    coalesce,
    col,
    keep,
    negate,
    null,
    number,
    substitute,
    when,
)


def initial(storage: Storage) -> Node:
    """Everything the stream table stores, computed from scratch."""
    if storage.top is not None:
        return simplify(flatten(top.first(storage)))
    if storage.aggregate is None:
        return simplify(flatten(storage.plan))
    wide = full(storage, after(storage.aggregate.input))
    return simplify(flatten(stored_columns(storage, kept_groups(storage, wide))))


def maintain(storage: Storage, unchanged: frozenset[str] = frozenset(), appending: bool = False) -> Node:
    """The net change of the stored rows: their columns and `__w`.

    With `appending` the sources only gained rows: what only adds needs no netting, what only grows no rescan.
    """
    change = simplify(settle(flatten(raw_change(storage, unchanged, appending)), unchanged))
    return change if appending and storage.aggregate is None and only_adds(storage.plan) else consolidate(change)


def raw_change(storage: Storage, unchanged: frozenset[str] = frozenset(), appending: bool = False) -> Node:
    aggregate = storage.aggregate
    if storage.top is not None:
        return top.recomputed(storage)
    if aggregate is None:
        return raw_delta(flatten(storage.plan), unchanged, RULES)
    change = raw_delta(flatten(aggregate.input), unchanged, RULES)
    old = _touched_rows(storage, change)
    if storage.strategy == "rescan":
        now = after(aggregate.input)
        new = full(storage, _restricted(storage, now, change))
    else:
        new = _merged(storage, change, appending and only_adds(aggregate.input))
    return difference(stored_columns(storage, kept_groups(storage, new)), old)


def full(storage: Storage, rows: Node) -> Node:
    """Keys, cells and calls of the groups in these rows."""
    aggregate = _aggregate_of(storage)
    cells = tuple(Item(Column(c.name, c.type), c.full()) for c in _cells(storage) if c.name not in _call_names(storage))
    return Aggregate(rows, aggregate.keys, (*cells, *aggregate.calls))


def _merged(storage: Storage, change: Node, growing: bool = False) -> Node:
    """Keys, cells and calls of the affected groups, rescanned where merging cannot tell.

    Of a change that is `growing` nothing went: extremes are merged like sums.
    """
    aggregate = _aggregate_of(storage)
    contributions = UnionAll((_stored_part(storage, change), changed_part(storage, change, growing)))
    merged = Aggregate(contributions, keep(key_columns(storage)), merging(storage))
    is_stale = stale(storage, growing)
    if is_stale is None:
        return results(storage, merged)
    lost = Project(Filter(merged, exp.and_(is_stale, alive(storage))), _marker(storage))
    rescanned = full(storage, within(storage, after(aggregate.input), lost))
    if not aggregate.keys:
        rescanned = SemiJoin(rescanned, lost, TRUE)
    settled = results(storage, Filter(merged, negate(is_stale)))
    return UnionAll((settled, Project(rescanned, keep(settled.columns))))


def stale(storage: Storage, growing: bool = False) -> exp.Expr | None:
    """Over merged cells: must the group be rescanned? None if that never happens."""
    found = [a.stale for a in storage.algebras if a.stale is not None and not (growing and only_growing(a))]
    return coalesce(any_of(found), exp.false()) if found else None


def _stored_part(storage: Storage, change: Node) -> Node:
    """Keys and cells of the stored groups that the change touches."""
    keys = tuple(Item(c, col(storage.stored_as(c.name))) for c in key_columns(storage))
    cells = tuple(Item(Column(c.name, c.type), col(storage.stored_as(c.name))) for c in storage.cells)
    return Project(_touched_rows(storage, change), (*keys, *cells, *_nothing_went(storage)))


def _nothing_went(storage: Storage) -> tuple[Item, ...]:
    return tuple(Item(Column(c.went), null()) for c in storage.cells if c.only_grows)


def only_growing(algebra: Algebra) -> bool:
    return all(cell.only_grows for cell in algebra.cells)


def changed_part(storage: Storage, change: Node, appended: bool = False) -> Node:
    """Keys and what the changed rows contribute to each cell."""
    keys = _aggregate_of(storage).keys
    if appended:
        values = tuple(Item(Column(c.name, c.type), c.of_row) for c in storage.cells)
        return Project(change, (*keys, *values, *_nothing_went(storage)))
    sums = [c for c in storage.cells if not c.only_grows]
    growing = [c for c in storage.cells if c.only_grows]
    if not growing:
        return Project(change, (*keys, *(_signed(c) for c in sums)))
    # A value that came and went leaves no trace: count it out before asking for extremes.
    values = tuple(Item(Column(c.name), c.of_row) for c in growing)
    wide = Project(change, (*keys, *values, *(_signed(c) for c in sums), Item(Column(WEIGHT), col(WEIGHT))))
    totals = tuple(Item(Column(c.name, c.type), c.merged()) for c in sums)
    net = Aggregate(
        wide,
        keep([*(k.column for k in keys), *(v.column for v in values)]),
        (*totals, Item(Column(WEIGHT), exp.Sum(this=col(WEIGHT)))),
    )
    arrived = tuple(Item(Column(c.name), when(came(), col(c.name), null())) for c in growing)
    departed = tuple(Item(Column(c.went), when(left(), col(c.name), null())) for c in growing)
    passed = keep([*(k.column for k in keys), *(t.column for t in totals)])
    return Project(net, (*passed, *arrived, *departed))


def _signed(cell: Cell) -> Item:
    return Item(Column(cell.name, cell.type), cell.signed())


def merging(storage: Storage) -> tuple[Item, ...]:
    values = tuple(Item(Column(c.name, c.type), c.merged()) for c in storage.cells)
    return values + tuple(_went(c) for c in storage.cells if c.only_grows)


def _went(cell: Cell) -> Item:
    function = exp.Min if cell.merge is Merge.MIN else exp.Max
    return Item(Column(cell.went), function(this=col(cell.went)))


def results(storage: Storage, merged: Node) -> Node:
    """Keys, settled cells, and each call's value over them."""
    values = {c.name: c.value() for c in storage.cells}
    cells = tuple(
        Item(Column(c.name, c.type), values[c.name]) for c in storage.cells if c.name not in _call_names(storage)
    )
    pairs = zip(_aggregate_of(storage).calls, storage.algebras, strict=True)
    calls = tuple(Item(item.column, substitute(a.result, values)) for item, a in pairs)
    return Project(merged, (*keep(key_columns(storage)), *cells, *calls))


def stored_columns(storage: Storage, wide: Node) -> Node:
    """The stored columns over keys, cells and calls."""
    items = (*storage.outputs, *(Item(h.column, h.value) for h in storage.hidden))
    return Project(wide, items)


def kept_groups(storage: Storage, wide: Node) -> Node:
    """Without empty groups; and, where nothing can hide them, without those HAVING leaves out."""
    if storage.strategy == "rescan":
        return Filter(wide, storage.visible) if storage.visible is not None else wide
    return Filter(wide, alive(storage)) if _aggregate_of(storage).keys else wide


def alive(storage: Storage) -> exp.Expr:
    if not _aggregate_of(storage).keys:
        return exp.true()
    return exp.GT(this=col(COUNT), expression=number(0))


def _touched_rows(storage: Storage, change: Node) -> Node:
    """stored ⋉ G"""
    keys = [col(storage.stored_as(c.name)) for c in key_columns(storage)]
    return restrict(storage.scan(), keys, groups(storage, change)) if keys else storage.scan()


def _restricted(storage: Storage, rows: Node, change: Node) -> Node:
    """R ⋉ G"""
    keys = [k.expression for k in _aggregate_of(storage).keys]
    return restrict(rows, keys, groups(storage, change)) if keys else rows


def groups(storage: Storage, change: Node) -> Node:
    return affected(change, [k.expression for k in _aggregate_of(storage).keys])


def _marker(storage: Storage) -> tuple[Item, ...]:
    """The keys of stale groups under names of their own; without keys, one column to say that there are any."""
    keys = key_columns(storage)
    if not keys:
        return (Item(Column("__stale", "INT"), number(1)),)
    return tuple(Item(Column(f"__k{n}", c.type), col(c.name)) for n, c in enumerate(keys, start=1))


def within(storage: Storage, rows: Node, groups: Node) -> Node:
    keys = [k.expression for k in _aggregate_of(storage).keys]
    return restrict(rows, keys, groups) if keys else SemiJoin(rows, groups, TRUE)


def key_columns(storage: Storage) -> tuple[Column, ...]:
    return tuple(k.column for k in _aggregate_of(storage).keys)


def _cells(storage: Storage) -> tuple[Cell, ...]:
    return storage.cells if storage.strategy == "algebraic" else ()


def _call_names(storage: Storage) -> frozenset[str]:
    return frozenset(item.name for item in _aggregate_of(storage).calls)


def _aggregate_of(storage: Storage) -> Aggregate:
    if storage.aggregate is None:
        raise ValueError("this storage has no aggregate")
    return storage.aggregate
