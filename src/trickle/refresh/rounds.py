"""Rounds of a recursion: what they find is held by Spark, so that plans do not grow from round to round."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from ..delta import recursion as plans
from ..errors import QueryError
from ..lake.model import WEIGHT
from ..plan import Node, Scan, Version, walk
from ..plan.recursion import Recursion
from ..sql.names import quote_spark
from ..sql.render import render
from .lookups import Read
from .windows import Frames

MOST_PARTS = 8
"""Parts of a relation from which on small ones are made one."""


@dataclass(frozen=True)
class Found:
    """Rows that are computed, and how many."""

    rows: DataFrame
    number: int


def held(rows: DataFrame) -> Found:
    """The rows computed, once."""
    kept = rows.localCheckpoint(eager=False)
    return Found(kept, kept.count())


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

    def __init__(self, frames: Frames, recursion: Recursion, version: Version) -> None:
        self.recursion = recursion
        self.base, self.step = plans.begin(recursion, version), plans.advance(recursion, version)
        self.frames = frames.beside(f"{version.value}_{recursion.table}")
        for read, columns in reads(self.base, self.step).items():
            if read[0] != recursion.table:
                self.frames.make(read, columns)

    def all(self) -> Found:
        """The whole recursion, from its base on."""
        first = held(self.rows(self.base))
        _require_types(self.recursion, first.rows.schema)
        return self.spread(first, Found(first.rows.limit(0), 0))

    def spread(self, found: Found, old: Found) -> Found:
        """The rows and what they give rise to, round by round until nothing is new; without what is old."""
        schema, new, depth = old.rows.schema, Known([Found(old.rows.limit(0), 0)]), 0
        while found.number:
            self._require_end(depth, new.number + found.number)
            rest = old.rows.unionAll(new.rows)
            new.add(found)
            rows = typed(self._next(found.rows, rest), schema)
            found = held(rows.subtract(rest.unionAll(found.rows)) if self.recursion.distinct else rows)
            depth += 1
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
        for measure, reached, most in (("round", depth, self._most("depth")), ("row", rows, self._most("rows"))):
            if reached > most:
                raise QueryError(
                    f'the recursion "{self.recursion.label}" has no end within {most:,} {measure}s',
                    detail="a cycle among its rows, or very deep data; nothing was committed.",
                    hint=f"{self._advice()} or raise the setting refresh.recursion_{'depth' if measure == 'round' else 'rows'}.",
                )

    def _advice(self) -> str:
        if self.recursion.distinct:
            return "let no column grow for ever (a counter, a path) without a condition that stops it,"
        return "write UNION, which finds each row once, or a condition that stops it,"

    def _most(self, what: str) -> int:
        return int(self.frames.lake.settings[f"refresh.recursion_{what}"])


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
    pairs = zip(rows.schema.fields, schema.fields, strict=True)
    if all(given.dataType.simpleString() == wanted.dataType.simpleString() for given, wanted in pairs):
        return rows
    return rows.select(*(F.col(quote_spark(f.name)).cast(f.dataType).alias(f.name) for f in schema.fields))


def _require_types(recursion: Recursion, schema: StructType) -> None:
    for column in schema.fields:
        if "void" in column.dataType.simpleString():
            raise QueryError(
                f'a column of the recursion "{recursion.label}" has no type',
                detail="its first part says NULL, and the first part gives the types.",
                hint="cast it, as in CAST(NULL AS STRING).",
            )
