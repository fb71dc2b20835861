"""A delta too large for the driver: its rows stay in Spark, only weights, positions and whole numbers come back."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
import pyarrow.compute as pc
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ..execute import rows as row_work
from ..execute.transaction import Located, Transaction
from ..lake.model import WEIGHT, Bound, Table
from ..lake.orders import is_whole
from ..lake.scan import FILE, POSITION
from ..lake.types import to_arrow as arrow_schema
from ..sql.names import quote_spark
from .apply import bounds, drift, same, take
from .lookups import condition
from .phases import phase, to_arrow
from .replacing import arrive

_NUMBER, _COPIES = "__trickle_n", "__trickle_copies"
MOST_SENT = 1_000_000
MOST_SENT_BYTES = 64 << 20
"""Rows that go, and bytes of a change, up to which those are sent to every task: the stored rows, often more, stay."""
MOST_LOOKED_AT = 8_000_000
"""Rows of a change up to which the driver looks where in the stored rows those that go may stand."""


def apply(transaction: Transaction, stored: Table, delta: DataFrame, key: tuple[str, ...] | None) -> tuple[int, int]:
    """Rows added and rows removed, as `apply_local` has it."""
    names = [c.name for c in stored.columns]
    with ExitStack() as stack:
        with phase("run"):
            work = stack.enter_context(row_work.staged(transaction, delta, stored))
        return _apply(transaction, stored, work, list(key) if key else names)


def _apply(transaction: Transaction, stored: Table, work: row_work.Staged, match: list[str]) -> tuple[int, int]:
    weights = work.select([WEIGHT]).column(WEIGHT).to_numpy()
    went = weights[weights < 0]
    if len(went):
        known = _known(stored, work, match) if len(weights) <= MOST_LOOKED_AT else []
        located = transaction.located(stored, known)
        if (asked := condition(known)) is not None:
            located.rows = located.frame.where(asked)
        remove_staged(transaction, stored, located, work, F.col(WEIGHT) < 0, match, len(went))
    return arrive_staged(transaction, stored, work, weights), int(-went.sum())


def _known(stored: Table, work: row_work.Staged, match: list[str]) -> list[Bound]:
    """Where the rows that go stand, by their whole numbers and days, which take little to look at."""
    columns = [column for name in match if (column := stored.column(name)) is not None]
    whole = [field.name for field in arrow_schema(columns) if is_whole(field.type)]
    rows = work.select([*whole, WEIGHT])
    return bounds(stored, rows.filter(pc.less(rows.column(WEIGHT), 0)), whole)


def remove_staged(
    transaction: Transaction,
    stored: Table,
    located: Located,
    work: row_work.Staged,
    leaving: SparkColumn,
    match: list[str],
    rows: int,
) -> None:
    """Find and take away the stored rows that go: so many, each as often as its weight says."""
    sought = work.frame.where(leaving).select(
        *(F.col(quote_spark(n)).alias(f"__trickle_m{i}") for i, n in enumerate(match)),
        F.monotonically_increasing_id().alias(_NUMBER),
        (-F.col(WEIGHT)).alias(_COPIES),
    )
    if rows <= MOST_SENT and work.bytes <= MOST_SENT_BYTES:
        sought = F.broadcast(sought)
    joined = located.frame.join(sought, same(stored, match)).select(_NUMBER, _COPIES, FILE, POSITION)
    found = to_arrow(joined)
    numbered, numbers = np.unique(found.column(_NUMBER).to_numpy(), return_inverse=True)
    if len(numbered) != rows:
        raise drift(stored, rows - len(numbered), rows)
    copies = np.zeros(rows, np.int64)
    copies[numbers] = found.column(_COPIES).to_numpy()
    files, positions = (found.column(name).to_numpy() for name in (FILE, POSITION))
    take(transaction, stored, located, numbers, files, positions, copies)


def arrive_staged(transaction: Transaction, stored: Table, work: row_work.Staged, weights: np.ndarray) -> int:
    """Write the rows that come, each as often as its weight says; how many."""
    came = weights[weights > 0]
    if len(came):
        rows = work.frame.where(F.col(WEIGHT) > 0)
        if (came != 1).any():
            rows = rows.withColumn(_COPIES, F.explode(F.sequence(F.lit(1), F.col(WEIGHT).cast("int"))))
        columns = [F.col(quote_spark(c.name)) for c in stored.columns]
        transaction.draft.add_files(stored, transaction.lake.writer(stored).write_spark(rows.select(*columns)))
    arrive(transaction, stored)
    return int(came.sum())
