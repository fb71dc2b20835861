"""The least solution of stream tables that read one another in a circle, and what each of them makes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ..delta.growth import only_adds
from ..delta.state import initial
from ..errors import CycleDetected
from ..execute.transaction import Transaction
from ..lake.lake import Lake
from ..lake.model import WEIGHT, Bound, Snapshot, Table
from ..lake.types import to_spark
from ..plan import Version
from ..plan.circle import MEMBER, Circle, Member, Uneven
from ..plan.recursion import Recursion
from ..registry.models import StreamTable
from ..sql.names import quote_spark
from ..sql.render import render
from .compile import Compiled
from .differential import Differential
from .frames import Frames
from .lookups import Read
from .renewal import replace_content
from .rounds import Rederivation, Rounds, apart, held
from .windows import Columns, Maker, Window, makers, stored_makers

MOST = "streams.fixpoint_rounds"


@dataclass(frozen=True)
class Part:
    """A member of a circle: its definition, its query, where its rows are stored."""

    table: StreamTable
    compiled: Compiled
    stored: Table

    @property
    def labels(self) -> tuple[str, ...]:
        assert self.compiled.query is not None
        return self.compiled.query.labels


def circle_of(parts: Sequence[Part]) -> Circle:
    """The circle as a plan; `CycleDetected`, naming member and construct, if it has no fixpoint to go to."""
    try:
        circle = Circle(tuple(_member(part, parts) for part in parts))
        _ = circle.recursion
        return circle
    except Uneven as found:
        raise CycleDetected(
            f'stream table "{found.member}" cannot stand in a circle',
            detail=f"{found.why}.",
            hint="members of a circle may only gain rows from rows of each other: break the circle there.",
        ) from None


def _member(part: Part, parts: Sequence[Part]) -> Member:
    compiled, own = part.compiled, part.stored
    if part.table.refresh_mode == "IMMEDIATE":
        raise Uneven(part.table.label, "its refresh_mode is IMMEDIATE")
    if compiled.query is None or compiled.storage is None:
        raise Uneven(part.table.label, f"{compiled.construct} is not supported in a circle")
    if compiled.recursions:
        raise Uneven(part.table.label, "WITH RECURSIVE is not supported in a circle")
    names = (n for p in parts for n, table in p.compiled.tables.items() if table.id == own.id)
    columns = {c.name: c for c in own.columns}
    types = tuple(to_spark(columns[label]).simpleString() for label in compiled.query.labels)
    return Member(part.table.label, frozenset(names), compiled.query.plan, compiled.query.labels, types)


@dataclass
class Spread:
    """The rows of a circle before and after, and how many rounds it took."""

    after: DataFrame
    change: DataFrame | None
    rounds: int


@dataclass
class Solution:
    """The least solution of a circle over its sources, and what each member makes of it."""

    lake: Lake
    parts: Sequence[Part]
    windows: Mapping[str, Window]
    """Of the sources outside the circle."""
    prefix: str

    def __post_init__(self) -> None:
        self.circle = circle_of(self.parts)
        tables = {n: w.table for n, w in self.windows.items()}
        self.frames = Frames(self.lake, f"{self.prefix}_c", tables, makers(self.lake, self.windows))

    @property
    def recursion(self) -> Recursion:
        return self.circle.recursion

    def anew(self) -> Spread:
        """From nothing."""
        rounds = Rounds(self.frames, self.recursion, Version.AFTER, MOST)
        try:
            return Spread(rounds.all().rows, None, rounds.number)
        finally:
            rounds.frames.close()

    def moved(self, transaction: Transaction, unchanged: frozenset[str]) -> Spread:
        """From the stored rows on: what lost a derivation is deleted and rederived, what came is carried on."""
        before = self.before(transaction)
        work = Rederivation(self.frames, self.recursion, before, unchanged, MOST)
        after, change = work.run()
        return Spread(after, change, work.number)

    def compared(self, transaction: Transaction) -> Spread:
        """From nothing, and the difference to the stored rows."""
        found, before = self.anew(), self.before(transaction)
        came, went = found.after.subtract(apart(before)), before.subtract(apart(found.after))
        change = came.withColumn(WEIGHT, F.lit(1)).unionAll(went.withColumn(WEIGHT, F.lit(-1)))
        return replace(found, change=held(change).rows)

    def moves(self, removed: bool) -> bool:
        """Whether the stored rows can be gone on from; not where rows went and the circle joins itself with itself."""
        adds = only_adds(self.recursion.base) and only_adds(self.recursion.step)
        return adds and (self.recursion.linear or not removed)

    def before(self, transaction: Transaction) -> DataFrame:
        rows = [self._tagged(n, transaction.rows(part.stored)) for n, part in enumerate(self.parts)]
        return reduce(DataFrame.unionAll, rows)

    def _tagged(self, n: int, rows: DataFrame) -> DataFrame:
        own = dict(zip(self.circle.columns_of(n), self.parts[n].labels, strict=True))
        columns = [F.lit(n).cast("int").alias(MEMBER)]
        for c in self.circle.columns[1:]:
            value = F.col(quote_spark(own[c])) if c in own else F.lit(None)
            columns.append(value.cast(str(c.type)).alias(c.name))
        return rows.select(*columns)

    def sizes(self, change: DataFrame) -> dict[int, int]:
        """How many rows of which members changed."""
        return {row[0]: row[1] for row in change.groupBy(MEMBER).count().collect()}

    def rows_of(self, n: int, rows: DataFrame) -> DataFrame:
        """A member's rows of those of the circle, under its own names."""
        pairs = zip(self.circle.columns_of(n), self.parts[n].labels, strict=True)
        more = [F.col(WEIGHT)] if WEIGHT in rows.columns else []
        mine = rows.where(F.col(MEMBER) == n)
        return mine.select(*(F.col(c.name).alias(label) for c, label in pairs), *more)

    def makers(self, transaction: Transaction, part: Part, found: Spread) -> dict[Read, Maker]:
        """How a member reads its sources, and the circle as it was and will be."""
        base = transaction.base
        windows = {n: w for n, w in self.windows.items() if n in part.compiled.tables}
        made = makers(self.lake, windows) | stored_makers(transaction, part.stored)
        for n, other in enumerate(self.parts):
            for name in self.circle.members[n].names:
                made[name, Version.AFTER] = _given(self.rows_of(n, found.after))
                if found.change is not None:
                    made[name, Version.BEFORE] = partial(_state, self.lake, other.stored, base)
                    made[name, Version.CHANGES] = _given(self.rows_of(n, found.change))
        return made

    def frames_of(self, transaction: Transaction, part: Part, found: Spread) -> Frames:
        made = self.makers(transaction, part, found)
        return Frames(self.lake, f"{self.prefix}_s{part.table.id}", part.compiled.tables, made)

    def fill(self, transaction: Transaction, part: Part, found: Spread) -> tuple[int, int]:
        """Stage the difference between what a member stores and what it should."""
        storage = part.compiled.storage
        assert storage is not None
        frames = self.frames_of(transaction, part, found)
        try:
            rows = self.lake.spark.sql(render(initial(storage), frames.relation, storage.stored_labels))
        finally:
            frames.close()
        return replace_content(transaction, part.stored, rows)

    def move(
        self, transaction: Transaction, part: Part, found: Spread, settled: frozenset[str], changed_rows: int
    ) -> tuple[int, int]:
        """The same, by the change alone."""
        frames = self.frames_of(transaction, part, found)
        work = Differential(transaction, part.stored, part.compiled, frames, settled, changed_rows, appending=False)
        return work.run()


def _given(rows: DataFrame) -> Maker:
    return lambda columns, bounds: rows


def _state(lake: Lake, table: Table, at: Snapshot, columns: Columns, bounds: Sequence[Bound]) -> DataFrame:
    return lake.state(table, at)[0]
