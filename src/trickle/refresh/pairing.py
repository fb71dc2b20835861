"""A large change of rows and the places of those that go, found in one go by Spark.

The rows that should be there are counted against the stored ones that are equal to them. Each row of the outcome says
how many copies come or go, and where one of the stored ones stands: where but one goes, that is all there is to know.
To find the change first and the places then would bring all stored rows together twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

import pyarrow.compute as pc
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ..execute import rows as row_work
from ..execute.transaction import Transaction
from ..lake.model import WEIGHT, Column, Table
from ..lake.scan import FILE, POSITION
from ..lake.text import word
from ..sql.names import quote_spark
from .large import arrive_staged, remove_staged
from .phases import phase

_PLACE = "__trickle_place"
_SHIFT = 40
"""Bits of a place that say the position; the others say the file."""
_FEW_ROWS, _MANY_ROWS = 100_000, 2_000_000
"""Rows that one task counts: fewer are not worth a task of their own, more may not have the place."""
_VARYING = frozenset({"float32", "float64"})
"""Types of values that are equal and look different, so that they may not say which task a row belongs to."""


def become(transaction: Transaction, stored: Table, rows: DataFrame) -> tuple[int, int]:
    """Stage what makes the stored rows these, which are typed as they are; (added, removed)."""
    located = transaction.located(stored)
    names = [c.name for c in stored.columns]
    with ExitStack() as stack:
        with phase("run"):
            change = _difference(rows, located.frame, stored.columns, 2 * located.most_rows)
            work = stack.enter_context(row_work.staged(transaction, change, stored))
        moved = work.select([WEIGHT, _PLACE])
        weights = moved.column(WEIGHT).to_numpy()
        alone = moved.filter(pc.equal(moved.column(WEIGHT), -1)).column(_PLACE).to_numpy()
        if len(alone):
            row_work.remove(transaction, stored, located, alone >> _SHIFT, alone & ((1 << _SHIFT) - 1))
        if (weights < -1).any():
            remove_staged(transaction, stored, located, work, F.col(WEIGHT) < -1, names, int((weights < -1).sum()))
        return arrive_staged(transaction, stored, work, weights), int(-weights[weights < 0].sum())


def _difference(rows: DataFrame, located: DataFrame, stored: Sequence[Column], about: int) -> DataFrame:
    columns = [F.col(quote_spark(c.name)) for c in stored]
    place = F.shiftleft(FILE, _SHIFT) + F.col(POSITION)
    wanted = rows.select(*columns, _number(1).alias(WEIGHT), F.lit(None).cast("bigint").alias(_PLACE))
    held = located.select(*columns, _number(-1).alias(WEIGHT), place.alias(_PLACE))
    both = _together(wanted.unionAll(held), stored, about)
    counted = both.groupBy(*columns).agg(F.sum(WEIGHT).alias(WEIGHT), F.min(_PLACE).alias(_PLACE))
    return counted.where(F.col(WEIGHT) != 0)


def _together(rows: DataFrame, columns: Sequence[Column], about: int) -> DataFrame:
    """Equal rows in one task before they are counted: to count them where they are first does nothing for most rows."""
    if any(c.children or word(c.type) in _VARYING for c in columns):
        return rows
    usual = int(rows.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
    tasks = max(min(usual, about // _FEW_ROWS + 1), about // _MANY_ROWS)
    return rows.repartition(tasks, *(F.col(quote_spark(c.name)) for c in columns))


def _number(value: int) -> SparkColumn:
    return F.lit(value).cast("bigint")
