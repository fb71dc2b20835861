"""What is stored becomes what was computed in full: only what differs is written."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ..execute import rows as row_work
from ..execute.transaction import Transaction
from ..lake.held import Held
from ..lake.local import SMALL_STATE
from ..lake.model import Table
from ..lake.scan import FILE, POSITION
from ..lake.types import to_spark
from ..sql.names import quote_spark
from .match import difference
from .pairing import become
from .phases import to_arrow
from .replacing import arrive

FEW_ROWS = SMALL_STATE
"""Stored rows up to which the driver holds both sides against each other."""


def replace_content(transaction: Transaction, stored: Table, full: DataFrame) -> tuple[int, int]:
    """Stage the difference between the stored rows and these; (added, removed)."""
    most = transaction.most_rows(stored)
    if most == 0:
        return fill(transaction, stored, full), 0
    typed = _typed(stored, full)
    moved = _by_driver(transaction, stored, typed) if most <= FEW_ROWS else None
    return _by_spark(transaction, stored, typed) if moved is None else moved


def fill(transaction: Transaction, stored: Table, rows: DataFrame) -> int:
    """Everything into an empty stored table."""
    files = transaction.lake.writer(stored).write_spark(_typed(stored, rows))
    transaction.draft.add_files(stored, files)
    return sum(f.records for f in files)


def _typed(stored: Table, rows: DataFrame) -> DataFrame:
    return rows.select(*(F.col(quote_spark(c.name)).cast(to_spark(c)).alias(c.name) for c in stored.columns))


def _by_driver(transaction: Transaction, stored: Table, full: DataFrame) -> tuple[int, int] | None:
    """None where the rows are too many, or of types that only Spark compares."""
    located = transaction.located(stored, here=True)
    if not isinstance(located.rows, Held):
        return None
    held, names = located.rows.rows, [c.name for c in stored.columns]
    computed = to_arrow(full.limit(FEW_ROWS + 1))
    if computed.num_rows > FEW_ROWS:
        return None
    found = difference(held, computed.cast(held.select(names).schema), names)
    if found is None:
        return None
    gone, came = found
    if len(gone):
        files, positions = (held.column(name).to_numpy()[gone] for name in (FILE, POSITION))
        row_work.remove(transaction, stored, located, files, positions)
    arrive(transaction, stored, computed.take(pa.array(came)) if len(came) else None)
    return len(came), len(gone)


def _by_spark(transaction: Transaction, stored: Table, full: DataFrame) -> tuple[int, int]:
    try:
        return become(transaction, stored, full)
    finally:
        transaction.lake.leave_desk()
