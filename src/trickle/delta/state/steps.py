"""The change of a stored aggregate in steps, for changes small enough that a driver can hold what each step finds.

    C        = γ(ΔR)               what the change contributes to every group it touches
    outcome  = C ⟕ stored          one row a group: its next state, what is stored of it, and where that stands
    rescan   = γ(R• ⋉ K)           the groups K whose next state merging cannot tell

Each step reads the change, or what came of it, once; as one statement (`maintain`) the change is read once for
every place that names it.
"""

from __future__ import annotations

from sqlglot import exp

from trickle.delta.affected import restrict
from trickle.delta.differentiate import raw_delta, settle
from trickle.delta.growth import only_adds
from trickle.delta.rules import RULES
from trickle.delta.simplify import flatten, simplify
from trickle.delta.state import merge
from trickle.delta.state.storage import COUNT, Storage
from trickle.plan import (
    CONTRIBUTIONS,
    FILE,
    KEYS,
    POSITION,
    Aggregate,
    Column,
    Constant,
    Distinct,
    Field,
    Item,
    Join,
    Node,
    OuterJoin,
    Project,
    Scan,
    Version,
    after,
    all_of,
    coalesce,
    col,
    hidden,
    keep,
    number,
    same,
)

STALE = hidden("stale")
"""Whether merging cannot tell the group's next state."""
ALIVE = hidden("alive")
"""Whether the group still has rows."""
DRIFT = hidden("drift")
"""Whether more rows left the group than were in it: the stored state was wrong."""
NUMBER = hidden("number")
"""Tells apart the keys handed to a rescan."""
_SOMETHING = Column(hidden("changed"), "INT")
"""Without keys there is one group, and all that a change says of it is that it may have changed."""
_PLACE = (Column(FILE, "BIGINT"), Column(POSITION, "BIGINT"))


def key(n: int) -> str:
    """The n-th group key in an outcome."""
    return hidden(f"k{n}")


def old(n: int) -> str:
    """The n-th stored column, as it is stored now, in an outcome."""
    return hidden(f"old_{n}")


def contributions(storage: Storage, unchanged: frozenset[str] = frozenset(), appending: bool = False) -> Node:
    """C: keys and what the change adds to each cell; only keys where groups are always rescanned."""
    aggregate = _aggregate(storage)
    if storage.strategy == "rescan" and not aggregate.keys:
        return Constant((_SOMETHING,), ((number(1),),))
    change = raw_delta(flatten(aggregate.input), unchanged, RULES)
    if storage.strategy == "rescan":
        raw: Node = Distinct(Project(change, aggregate.keys))
    else:
        part = merge.changed_part(storage, change, _growing(storage, appending))
        raw = Aggregate(part, keep(merge.key_columns(storage)), merge.merging(storage))
    return simplify(settle(flatten(raw), unchanged))


def contributed(storage: Storage) -> Scan:
    """C, found by a step before."""
    columns = merge.key_columns(storage)
    if storage.strategy != "rescan":
        columns += tuple(item.column for item in merge.merging(storage))
    elif not columns:
        columns = (_SOMETHING,)
    return Scan(CONTRIBUTIONS, tuple(Field(c, c.name) for c in columns))


def outcome(storage: Storage, found: Node, appending: bool = False, *, restricted: bool = False) -> Node:
    """C ⟕ stored, with `restricted` only over the stored rows that C names; each group once.

    Columns: the keys, the next state in the stored columns (not where groups are always rescanned), what is
    stored now and where, and the flags.
    """
    stored = _stored_now(storage)
    keys = merge.key_columns(storage)
    held = [_held(storage, k.name) for k in keys]
    if restricted and keys:
        markers = tuple(Item(Column(f"__k{n}", c.type), col(c.name)) for n, c in enumerate(keys, start=1))
        stored = restrict(stored, held, Project(found, markers))
    passed = keep(stored.columns)
    is_held = all_of(same(col(k.name), h) for k, h in zip(keys, held, strict=True))
    joined = OuterJoin(found, stored, is_held if keys or COUNT not in found.names else _one_group())
    if storage.strategy == "rescan":
        flags = _flags(exp.true(), exp.true(), exp.false())
        return simplify(flatten(Project(joined, (*_keys(storage), *passed, *flags))))
    cells = tuple(Item(Column(c.name, c.type), c.added(_held(storage, c.name))) for c in storage.cells)
    went = keep([Column(c.went) for c in storage.cells if c.only_grows])
    wide = Project(joined, (*keep(keys), *cells, *went, *passed))
    results = merge.results(storage, wide)
    assert isinstance(results, Project)
    stale = merge.stale(storage, _growing(storage, appending)) or exp.false()
    drift = exp.LT(this=col(COUNT), expression=number(0)) if keys else exp.false()
    settled = Project(wide, (*results.items, *passed, *_flags(stale, merge.alive(storage), drift)))
    next_state = merge.stored_columns(storage, settled)
    assert isinstance(next_state, Project)
    kept = keep([*(c for c in settled.columns if c.name in (STALE, ALIVE, DRIFT)), *stored.columns])
    return simplify(flatten(Project(settled, (*_keys(storage), *next_state.items, *kept))))


def rescan(storage: Storage) -> Node:
    """The stored columns of the groups whose keys are handed in, and the number of each key."""
    keys = merge.key_columns(storage)
    now = after(_aggregate(storage).input)
    if not keys:
        rows = merge.kept_groups(storage, merge.full(storage, now))
        everything = Item(Column(NUMBER, "BIGINT"), number(0))
    else:
        rows = merge.kept_groups(storage, merge.full(storage, merge.within(storage, now, _handed(storage, "__k"))))
        numbered = _handed(storage, "__j", Field(Column(NUMBER, "BIGINT"), NUMBER))
        pairs = zip(keys, numbered.names, strict=False)
        rows = Join((rows, numbered), all_of(same(col(k.name), col(name)) for k, name in pairs))
        everything = Item(Column(NUMBER, "BIGINT"), col(NUMBER))
    stored = merge.stored_columns(storage, rows)
    assert isinstance(stored, Project)
    return simplify(flatten(Project(rows, (*stored.items, everything))))


def _stored_now(storage: Storage) -> Node:
    scan = storage.scan(*_PLACE)
    items = tuple(Item(Column(old(n), c.type), col(c.name)) for n, c in enumerate(storage.columns))
    return Project(scan, (*items, *keep(_PLACE)))


def _held(storage: Storage, name: str) -> exp.Expr:
    """The stored value of a key or cell."""
    stored = [c.name for c in storage.columns]
    return col(old(stored.index(storage.stored_as(name))))


def _one_group() -> exp.Expr:
    """True of what a change adds to the one group and of the row that is stored of it.

    `count % 1 = file % 1`, not TRUE: an equality joins one partition with another, without one Spark sends one side
    around first, in a job of its own.
    """
    left, right = (exp.Mod(this=value, expression=number(1)) for value in (coalesce(col(COUNT), number(0)), col(FILE)))
    return exp.EQ(this=left, expression=right)


def _keys(storage: Storage) -> tuple[Item, ...]:
    return tuple(Item(Column(key(n), c.type), col(c.name)) for n, c in enumerate(merge.key_columns(storage)))


def _handed(storage: Storage, prefix: str, *more: Field) -> Scan:
    keys = enumerate(merge.key_columns(storage))
    return Scan(KEYS, (*(Field(Column(f"{prefix}{n + 1}", c.type), key(n)) for n, c in keys), *more), Version.AFTER)


def _flags(stale: exp.Expr, alive: exp.Expr, drift: exp.Expr) -> tuple[Item, ...]:
    pairs = ((STALE, stale), (ALIVE, alive), (DRIFT, drift))
    return tuple(Item(Column(name, "BOOLEAN"), value) for name, value in pairs)


def _growing(storage: Storage, appending: bool) -> bool:
    return appending and only_adds(_aggregate(storage).input)


def _aggregate(storage: Storage) -> Aggregate:
    if storage.aggregate is None:
        raise ValueError("this storage has no aggregate")
    return storage.aggregate
