"""Intermediates in the lake: which operators of a query are stored, where, and how they come to be."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..delta.cut import Cut, Intermediate, cut
from ..delta.state import Storage, initial, store
from ..errors import TrickleError
from ..execute import ddl
from ..execute.transaction import Transaction
from ..lake.lake import Lake
from ..lake.model import Snapshot, Table
from ..learning import once
from ..plan import Node, hidden, tables
from ..registry.models import StreamTable
from ..sql.render import quote, render
from ..sql.statement import Name
from . import renewal
from .compile import MOST_OPERATORS, Compiled, Kept, operators, undated
from .frames import Frames
from .lookups import Read
from .recursion import Recursions
from .sources import STORED_SCHEMA
from .stored import Fit, add_table, fit
from .windows import Maker, held_in, makers

_NAME = "intermediate "
_GROWN, _SHRUNK = 2.0, 0.25
"""How far from the setting its sources must be before an intermediate comes, or goes, between full refreshes."""


def name_of(plan: Node) -> str:
    """The name by which plans read the intermediate that holds this: the same for the same content."""
    text = render(plan, lambda table, version: quote(table))
    return _NAME + hashlib.sha256(text.encode()).hexdigest()[:16]


def stored_name(owner: StreamTable, name: str) -> str:
    return hidden(f"{owner.stored_name}_{name.removeprefix(_NAME)}")


def possible(whole: Compiled) -> Sequence[Intermediate]:
    """Every operator of the query that could be stored: those whose change Spark can plan."""
    if not whole.possible:
        whole.possible.append([] if whole.storage is None else _bearable(whole, frozenset()))
    return whole.possible[0]


def _bearable(whole: Compiled, heavy: frozenset[str]) -> list[Intermediate]:
    """All but the heavy ones, and those that are heavy without these."""
    assert whole.storage is not None
    found = cut(whole.storage, frozenset(whole.tables), name_of, lambda name: name not in heavy).intermediates
    more = {part.name for part in found if operators(form(part)) > MOST_OPERATORS}
    return _bearable(whole, heavy | more) if more else list(found)


def _cut(whole: Compiled, names: frozenset[str]) -> Cut:
    """The query with these intermediates."""
    assert whole.storage is not None
    return cut(whole.storage, frozenset(whole.tables), name_of, lambda name: name in names)


def form(part: Intermediate) -> Storage:
    """How an intermediate is stored: sums of floating-point numbers do not drift where others build on them."""
    return store(part.plan, part.labels, float_sums=False)


def in_use(lake: Lake, owner: StreamTable, whole: Compiled, at: Snapshot) -> Compiled:
    """The query over the intermediates that are stored for it."""
    found = {n: lake.table(STORED_SCHEMA, stored_name(owner, n), at) for n in owner.intermediates}
    stored = {name: table for name, table in found.items() if table is not None}
    return over(whole, stored) if stored else whole


def are_the_same(one: Compiled, other: Compiled) -> bool:
    """Whether both stand over the same intermediates, stored in the same tables."""

    def stored(compiled: Compiled) -> dict[str, Table]:
        return {k.intermediate.name: undated(k.table) for k in compiled.kept}

    return stored(one) == stored(other)


def over(whole: Compiled, stored: Mapping[str, Table]) -> Compiled:
    """The query over these intermediates."""
    found = _cut(whole, frozenset(stored))
    kept = tuple(Kept(i, Compiled("", {}, storage=form(i)), stored[i.name]) for i in found.intermediates)
    return replace(whole, storage=found.storage, kept=kept, whole=whole, statements={}, possible=[], heavy={})


def wanted(lake: Lake, owner: StreamTable, whole: Compiled, settled: bool = False) -> frozenset[str]:
    """Which intermediates pay; once they are `settled`, not others at every small change of size."""
    choice = owner.options.get("intermediates", "auto")
    if whole.storage is None or owner.refresh_mode == "FULL":
        return frozenset()
    if choice == "never" and not whole.needs_intermediates:
        return frozenset()
    found = possible(whole)
    if not found or whole.deep or choice == "always":
        return frozenset(i.name for i in found)
    least = lake.settings["refresh.intermediate_rows"]
    with lake.reading() as connection:
        rows = {name: lake.record_count(connection, table) for name, table in whole.tables.items()}
    chosen = set()
    for part in found:
        has = part.name in owner.intermediates
        factor = (_SHRUNK if has else _GROWN) if settled else 1
        if sum(rows[t] for t in tables(part.whole)) >= least * factor:
            chosen.add(part.name)
    return frozenset(chosen)


@dataclass
class Rebuild:
    """The intermediates of a stream table computed from its sources, staged in a transaction."""

    transaction: Transaction
    owner: StreamTable
    whole: Compiled
    makers: dict[Read, Maker]
    prefix: str

    def all(self, names: frozenset[str]) -> Compiled:
        """Exactly these are stored from now on; the query over them."""
        for name in set(self.owner.intermediates) - names:
            drop(self.transaction, self.owner, name)
        return self.missing(names, {})

    def missing(self, names: frozenset[str], stored: Mapping[str, Table]) -> Compiled:
        """Those of the names that are not `stored` yet; the query over all of them."""
        done = dict(stored)
        for part in _cut(self.whole, names).intermediates:
            if part.name in done:
                continue
            found = self.compute(part, done)
            if found is None:  # the lake has no type for one of its columns
                return self.missing(names - {part.name}, stored)
            done[part.name] = found
            self.makers |= makers(self.transaction.lake, {part.name: held_in(self.transaction, found)})
        return over(self.whole, done) if done else self.whole

    def compute(self, part: Intermediate, done: Mapping[str, Table]) -> Table | None:
        storage, lake = form(part), self.transaction.lake
        frames = Frames(lake, frames_prefix(self.prefix, part), {**self.whole.tables, **done}, self.makers)
        Recursions.join(frames, self.whole.recursions)
        try:
            rows = lake.spark.sql(render(initial(storage), frames.relation, storage.stored_labels))
            name = stored_name(self.owner, part.name)
            held = self.transaction.find_table(Name(STORED_SCHEMA, name))
            if held is not None and fit(held, rows.schema) is Fit.ALL:
                renewal.replace_content(self.transaction, held, rows)
                return held
            if held is not None:
                ddl.drop(self.transaction, held)
            try:
                table = add_table(self.transaction, name, rows.schema, storage.key or ())
            except TrickleError:
                return None
            renewal.fill(self.transaction, table, rows)
            return table
        finally:
            frames.close()


def frames_prefix(prefix: str, part: Intermediate) -> str:
    return f"{prefix}_{part.name.removeprefix(_NAME)}"


def drop(transaction: Transaction, owner: StreamTable, name: str) -> None:
    held = transaction.find_table(Name(STORED_SCHEMA, stored_name(owner, name)))
    if held is not None:
        ddl.drop(transaction, held)


def drop_all(transaction: Transaction, owner: StreamTable) -> None:
    for name in owner.intermediates:
        drop(transaction, owner, name)


def drop_unknown(transaction: Transaction, owner: StreamTable, compiled: Compiled) -> None:
    """Tables that the query does not know as its intermediates any more would no longer be moved: they go."""
    known = {kept.intermediate.name for kept in compiled.kept}
    for name in set(owner.intermediates) - known:
        drop(transaction, owner, name)


def take_up(
    transaction: Transaction, owner: StreamTable, compiled: Compiled, sources: dict[Read, Maker], prefix: str
) -> tuple[str, ...]:
    """Sources that have grown may want intermediates: filled in the same commit; all that there are then."""
    whole = compiled.entire
    stored = {kept.intermediate.name: kept.table for kept in compiled.kept}
    names = wanted(transaction.lake, owner, whole, settled=True) | stored.keys()
    if not names - stored.keys():
        return tuple(stored)
    with once():
        over = Rebuild(transaction, owner, whole, sources, prefix).missing(names, stored)
    return tuple(kept.intermediate.name for kept in over.kept)
