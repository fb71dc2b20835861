"""Rounds of a recursion: what they find is held by Spark, so that plans do not grow from round to round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StructType

from ..delta import recursion as plans
from ..errors import QueryError
from ..lake.model import WEIGHT
from ..plan import Node, Scan, Version, walk
from ..plan.recursion import Recursion
from ..spark import meanwhile
from ..sql.names import quote_spark
from ..sql.render import render
from .frames import Frames
from .lookups import Read

_CONSTRAINTS = "spark.sql.constraintPropagation.enabled"
MOST_ROUNDS, MOST_FOUND = "refresh.recursion_depth", "refresh.recursion_rows"
MOST_PARTS = 8
"""Parts of a relation from which on small ones are made one."""


@dataclass(frozen=True)
class Found:
    """Rows that are computed, and how many."""

    rows: DataFrame
    number: int


def held(rows: DataFrame) -> Found:
    """The rows computed, once."""
    # Spark 4.3 keeps what it knows of a checkpoint's columns under wrong names, and stumbles over them later.
    with meanwhile(rows.sparkSession, _CONSTRAINTS, "false"):
        kept = rows.localCheckpoint(eager=False)
    return Found(kept, kept.count())


def apart(rows: DataFrame) -> DataFrame:
    """The same rows under attributes of their own: Spark 4.3 fails to tell apart some set operations' two sides."""
    return rows.select(*(F.col(quote_spark(name)).alias(name) for name in rows.columns))


@dataclass
class Known:
    """All rows so far: part by part as they were found."""

    parts: list[Found] = field(default_factory=list)

    @property
    def number(self) -> int:
        return sum(part.number for part in self.parts)

    @property
    def rows(self) -> DataFrame:
        return _together(self.parts)

    def add(self, found: Found) -> None:
        self.parts.append(found)
        if len(self.parts) > MOST_PARTS:
            self._make_one()

    def _make_one(self) -> None:
        """The last parts, up to one that is larger than all after it: a row moves few times."""
        last = [self.parts.pop()]
        while self.parts and (len(last) == 1 or self.parts[-1].number <= sum(part.number for part in last)):
            last.append(self.parts.pop())
        rows = _together(last)
        partitions = rows.sparkSession.conf.get("spark.sql.shuffle.partitions")
        self.parts.append(held(rows.coalesce(int(partitions or 1))))


def _together(parts: list[Found]) -> DataFrame:
    return reduce(DataFrame.unionAll, (part.rows for part in parts))


class Rounds:
    """The rounds of one recursion over its sources in one version."""

    def __init__(self, frames: Frames, recursion: Recursion, version: Version, most: str = MOST_ROUNDS) -> None:
        self.recursion, self.most, self.number = recursion, most, 0
        self.base, self.step = plans.begin(recursion, version), plans.advance(recursion, version)
        self.frames = frames.beside(f"{version.value}_{recursion.table}")
        for read, columns in reads(self.base, self.step).items():
            if read[0] != recursion.table:
                self.frames.make(read, columns)

    def all(self) -> Found:
        """The whole recursion, from its base on."""
        first = held(self.rows(self.base))
        _require_types(self.recursion, first.rows.schema)
        return self.spread(first, first.rows.limit(0))

    def spread(self, found: Found, old: DataFrame) -> Found:
        """The rows and what they give rise to, round by round until nothing is new; without what is old."""
        new, depth = Known([Found(old.limit(0), 0)]), 0
        while found.number:
            self._require_end(depth, new.number + found.number)
            rest = old.unionAll(new.rows)
            new.add(found)
            rows = typed(self._next(found.rows, rest), old.schema)
            found = held(rows.subtract(apart(rest.unionAll(found.rows))) if self.recursion.distinct else rows)
            depth += 1
        self.number += depth
        return Found(new.rows, new.number)

    def _next(self, found: DataFrame, rest: DataFrame) -> DataFrame:
        table = self.recursion.table
        self.frames.replace((table, Version.CHANGES), found.withColumn(WEIGHT, F.lit(1)))
        if not self.recursion.linear:
            self.frames.replace((table, Version.BEFORE), rest)
            self.frames.replace((table, Version.AFTER), rest.unionAll(found))
        return self.rows(self.step)

    def rows(self, plan: Node) -> DataFrame:
        return self.frames.lake.spark.sql(render(plan, self.frames.name, plan.names))

    def _require_end(self, depth: int, rows: int) -> None:
        settings = self.frames.lake.settings
        for name, reached, unit in ((self.most, depth, "rounds"), (MOST_FOUND, rows, "rows")):
            most = settings[name]
            if reached > most:
                raise QueryError(
                    f'the recursion "{self.recursion.label}" has no end within {most:,} {unit}',
                    detail="its rows lead round in a circle, or very far; nothing was committed.",
                    hint=f"{self._advice()}, or raise the setting {name}.",
                )

    def _advice(self) -> str:
        if self.recursion.distinct:
            return "add a condition that stops what grows from row to row (a counter, a path)"
        return "write UNION, which finds each row once, or add a condition that stops it"


class Rederivation:
    """The change of a recursion that only gains rows when its sources do: what may be gone is deleted and rederived."""

    def __init__(
        self,
        frames: Frames,
        recursion: Recursion,
        before: DataFrame,
        unchanged: frozenset[str],
        most: str = MOST_ROUNDS,
    ) -> None:
        self.frames, self.recursion, self.before, self.unchanged = frames, recursion, before, unchanged
        self.most, self.number = most, 0

    def run(self) -> tuple[DataFrame, DataFrame]:
        """R• and ΔR"""
        gone = self._gone()
        kept = held(self.before.subtract(apart(gone.rows))).rows if gone.number else self.before
        found = self._found(kept, gone)
        came = found.rows.subtract(apart(gone.rows)) if gone.number else found.rows
        went = gone.rows.subtract(apart(found.rows)) if found.number else gone.rows
        change = came.withColumn(WEIGHT, F.lit(1)).unionAll(went.withColumn(WEIGHT, F.lit(-1)))
        return kept.unionAll(found.rows), held(change).rows

    def _gone(self) -> Found:
        """Rows that lost a derivation, and all that stem from such."""
        lost = held(self._rows(plans.lost(self.recursion, self.unchanged), self.before, Version.BEFORE))
        return self._spread(lost, Version.BEFORE, self.before.limit(0))

    def _found(self, kept: DataFrame, gone: Found) -> Found:
        """Rows that can be derived again, rows that came, and all that stem from such."""
        rows = self._rows(plans.gained(self.recursion, self.unchanged), kept, Version.AFTER)
        if gone.number:
            again = self._rows(plans.derived(self.recursion), kept, Version.AFTER).intersect(apart(gone.rows))
            rows = rows.unionAll(again)
        return self._spread(held(rows.subtract(apart(kept))), Version.AFTER, kept)

    def _spread(self, found: Found, version: Version, old: DataFrame) -> Found:
        if not found.number:
            return found
        rounds = Rounds(self.frames, self.recursion, version, self.most)
        try:
            return rounds.spread(found, old)
        finally:
            self.number += rounds.number
            rounds.frames.close()

    def _rows(self, plan: Node, itself: DataFrame, version: Version) -> DataFrame:
        """A plan's rows, the recursion itself being these rows."""
        frames = self.frames.beside(f"{version.value}_{self.recursion.table}")
        try:
            frames.replace((self.recursion.table, version), itself)
            for read, columns in reads(plan).items():
                frames.make(read, columns)
            return typed(self.frames.lake.spark.sql(render(plan, frames.name, plan.names)), self.before.schema)
        finally:
            frames.close()


def reads(*parts: Node) -> dict[Read, frozenset[str]]:
    """The columns that plans read of each relation."""
    found: dict[Read, frozenset[str]] = {}
    for node in (n for plan in parts for n in walk(plan)):
        if isinstance(node, Scan):
            read = (node.table, node.version)
            found[read] = found.get(read, frozenset()) | {f.source for f in node.fields}
    return found


def typed(rows: DataFrame, schema: StructType) -> DataFrame:
    """The rows with the types of the recursion's first part."""
    return cast(rows, [f.dataType for f in schema.fields])


def cast(rows: DataFrame, types: Sequence[DataType]) -> DataFrame:
    """The first columns with these types; lists that may hold NULL are no other type than those that may not."""
    pairs = [*zip(rows.schema.fields, types, strict=False)]
    other = {f.name: type for f, type in pairs if f.dataType.simpleString() != type.simpleString()}
    if not other:
        return rows
    columns = ((name, F.col(quote_spark(name))) for name in rows.columns)
    return rows.select(*(c.cast(other[n]).alias(n) if n in other else c for n, c in columns))


def _require_types(recursion: Recursion, schema: StructType) -> None:
    for column in schema.fields:
        if "void" in column.dataType.simpleString():
            raise QueryError(
                f'a column of the recursion "{recursion.label}" has no type',
                detail="its first part says NULL, and the first part gives the types.",
                hint="cast it, as in CAST(NULL AS STRING).",
            )
