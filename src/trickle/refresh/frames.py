"""The relations that a refresh's SQL names, as Spark knows them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from .. import views
from ..handing import queried
from ..lake.held import Held, Rows, as_frame
from ..lake.lake import Lake
from ..lake.model import Table
from ..learning import once
from ..plan import Version
from ..spark import is_connect
from ..sql.names import quote_spark
from ..standing import Ready, Standing, Unfit
from .lookups import Lookup, Read, bounds
from .phases import phase, to_arrow
from .statements import Statement
from .windows import Columns, Maker

FEW_ROWS = 20_000
"""Rows, for each relation of a statement, that one task goes through faster than Spark spreads the work."""


@dataclass
class Frames:
    """Relations made when they are asked for, under names that are the same for each refresh of a table."""

    lake: Lake
    prefix: str
    """Begins the names; the same each time, so that the SQL text stays the same."""
    tables: Mapping[str, Table]
    makers: dict[Read, Maker]
    at_desk: bool = False
    """Whether statements over few rows that the driver holds may run in a session of their own."""
    made: dict[Read, Rows] = field(default_factory=dict)
    _columns: dict[Read, Columns] = field(default_factory=dict)
    _shown: dict[Read, tuple[SparkSession, Rows]] = field(default_factory=dict)

    def name(self, table: str, version: Version) -> str:
        """The name, as SQL text, of a table in one of its versions."""
        return sql_name(self.prefix, table, version)

    def relation(self, table: str, version: Version) -> str:
        """The same, the relation made when it is asked for first."""
        self.make((table, version), None)
        return self.name(table, version)

    def run(self, statement: Statement, is_large: bool = False, most: int | None = None) -> DataFrame:
        """The rows of a statement; `is_large`: what follows the change is too much to be sent to every task."""
        with phase("bind"):
            self.fetch(statement)
            is_small = self.at_desk and not is_large and self._is_small(statement)
            spark = self.lake.desk if is_small else self.lake.spark
            for read in statement.reads:
                self._show(read, spark)
        with phase("plan"):
            text = statement.for_few_rows if is_small else statement.for_many if is_large else statement.text
            return queried(spark, statement.selected(text, most))

    def rows(self, statement: Statement, is_large: bool = False, most: int | None = None) -> pa.Table:
        """The same rows, in the driver; not too many of them by a standing plan."""
        with phase("bind"):
            self.fetch(statement)
        standing = self.lake.standing if self.at_desk else None
        if standing is None or not self._has_at_most(self.lake.settings["refresh.standing_rows"], statement):
            return to_arrow(self.run(statement, is_large, most))
        text = statement.selected(statement.standing, most)
        ready = self._ready(standing, statement, text, is_large)
        if ready is not None:
            with suppress(Unfit), phase("run"):
                return ready()
        with once(standing.is_to_come(text, self._all_held(statement))):
            return to_arrow(self.run(statement, is_large, most))

    def _ready(self, standing: Standing, statement: Statement, text: str, is_large: bool) -> Ready | None:
        many = is_large or not self._is_small(statement)

        def restore() -> None:
            for read in statement.reads:
                self._shown.pop(read, None)
                self._show(read, standing.spark)

        with phase("plan"):
            return standing.ready(text, self._all_held(statement), restore, many)

    def fetch(self, statement: Statement) -> None:
        """Read what the statement reads, as far as the driver does."""
        for read, columns in statement.reads.items():
            self._fetch(read, columns, statement.lookups.get(read[0]))

    def make(self, read: Read, columns: Columns) -> None:
        """Let Spark know the relation, with these columns at least."""
        self._fetch(read, columns, None)
        self._show(read, self.lake.spark)

    def replace(self, read: Read, frame: DataFrame) -> None:
        """From now on the relation is this one."""
        self.made[read], self._columns[read] = frame, None
        self._show(read, self.lake.spark)

    def beside(self, name: str) -> Frames:
        """The same relations under names of their own, for a part of the refresh that reads other columns."""
        return Frames(self.lake, f"{self.prefix}_{name}", self.tables, self.makers)

    def _fetch(self, read: Read, columns: Columns, lookup: Lookup | None) -> None:
        """Read the relation, unless it is known with all these columns."""
        if read in self.made and _covers(self._columns[read], columns):
            return
        if lookup is None:
            self.made[read] = self.makers[read](columns, ())
        else:
            known = bounds(lookup, self.tables[lookup.table], self.held)
            self.made[read] = self.makers[lookup.table, lookup.version](columns, known)
        self._columns[read] = columns

    def held(self, read: Read) -> pa.Table | None:
        """The rows of a relation, where the driver holds them."""
        held = self._held(read)
        return None if held is None else held.rows

    def _all_held(self, statement: Statement) -> dict[str, Held]:
        return {_name(self.prefix, *read): rows for read in statement.reads if (rows := self._held(read))}

    def _held(self, read: Read) -> Held | None:
        rows = self.made.get(read)
        return rows if isinstance(rows, Held) else None

    def _is_small(self, statement: Statement) -> bool:
        """Each relation more would cost Spark a stage or two."""
        return self._has_at_most(FEW_ROWS * len(statement.reads), statement)

    def _has_at_most(self, most: int, statement: Statement) -> bool:
        """Whether the driver holds all that a statement reads, and that is not more rows than this."""
        found = [rows for read in statement.reads if (rows := self.held(read)) is not None]
        return len(found) == len(statement.reads) and sum(rows.num_rows for rows in found) <= most

    def _show(self, read: Read, spark: SparkSession) -> None:
        """Let a session know the relation by its name."""
        if self._shown.get(read) == (spark, self.made[read]):
            return
        views.show(as_frame(self.made[read], spark), _name(self.prefix, *read))
        self._shown[read] = (spark, self.made[read])

    def close(self) -> None:
        for read, (spark, _) in self._shown.items():
            if not is_connect(spark):
                views.hide(spark, _name(self.prefix, *read))
        self._shown.clear()


def sql_name(prefix: str, table: str, version: Version) -> str:
    """The name, as SQL text, that a table in one of its versions has among the frames of a prefix."""
    return quote_spark(_name(prefix, table, version))


def _name(prefix: str, table: str, version: Version) -> str:
    digest = hashlib.sha256(table.encode()).hexdigest()[:8]
    return f"{prefix}_{digest}_{version.value}"


def _covers(have: Columns, wanted: Columns) -> bool:
    return have is None or (wanted is not None and wanted <= have)
