"""A large change of rows and the places of those that go, found in one go by Spark.

The rows that should be there are counted against the stored ones that are equal to them. Each row of the outcome says
how many copies come or go, and where one of the stored ones stands: where but one goes, that is all there is to know.
To find the change first and the places then would bring all stored rows together twice.
"""

from __future__ import annotations

from contextlib import ExitStack

import pyarrow.compute as pc
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ..execute import rows as row_work
from ..execute.transaction import Transaction
from ..lake.model import WEIGHT, Table
from ..lake.scan import FILE, POSITION
from ..sql.names import quote_spark
from .apply import arrive_staged, remove_staged
from .phases import phase

_PLACE = "__trickle_place"
_SHIFT = 40
"""Bits of a place that say the position; the others say the file."""


def become(transaction: Transaction, stored: Table, rows: DataFrame) -> tuple[int, int]:
    """Stage what makes the stored rows these, which are typed as they are; (added, removed)."""
    located = transaction.located(stored)
    names = [c.name for c in stored.columns]
    with ExitStack() as stack:
        with phase("run"):
            work = stack.enter_context(row_work.staged(transaction, _difference(rows, located.frame, names), stored))
        moved = work.select([WEIGHT, _PLACE])
        weights = moved.column(WEIGHT).to_numpy()
        alone = moved.filter(pc.equal(moved.column(WEIGHT), -1)).column(_PLACE).to_numpy()
        if len(alone):
            row_work.remove(transaction, stored, located, alone >> _SHIFT, alone & ((1 << _SHIFT) - 1))
        if (weights < -1).any():
            several = work.frame.where(F.col(WEIGHT) < -1)
            remove_staged(transaction, stored, located, several, names, int((weights < -1).sum()))
        return arrive_staged(transaction, stored, work, weights), int(-weights[weights < 0].sum())


def _difference(rows: DataFrame, located: DataFrame, names: list[str]) -> DataFrame:
    columns = [F.col(quote_spark(n)) for n in names]
    place = F.shiftleft(FILE, _SHIFT) + F.col(POSITION)
    wanted = rows.select(*columns, _number(1).alias(WEIGHT), F.lit(None).cast("bigint").alias(_PLACE))
    held = located.select(*columns, _number(-1).alias(WEIGHT), place.alias(_PLACE))
    counted = wanted.unionAll(held).groupBy(*columns).agg(F.sum(WEIGHT).alias(WEIGHT), F.min(_PLACE).alias(_PLACE))
    return counted.where(F.col(WEIGHT) != 0)


def _number(value: int) -> SparkColumn:
    return F.lit(value).cast("bigint")
