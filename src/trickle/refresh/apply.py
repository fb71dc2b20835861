"""A delta that the driver holds becomes deleted positions and new files of the stored table, in a draft."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pyspark.sql import Column as SparkColumn
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from ..errors import LakeError
from ..execute import rows as row_work
from ..execute.transaction import Located, Transaction
from ..handing import local_frame
from ..lake.held import Held, as_frame
from ..lake.model import WEIGHT, Bound, Table
from ..lake.scan import FILE, POSITION
from ..lake.types import to_spark
from ..sql.names import quote_spark
from .lookups import key_bound
from .match import matches
from .phases import to_arrow
from .replacing import arrive

_NUMBER = "__trickle_n"


class Drift(LakeError):
    """A change takes away a row that is not stored: the stored rows are not what the query gave before."""

    code = "drift"


def drift(stored: Table, missing: int, wanted: int) -> Drift:
    return Drift(
        f'stream table "{stored.name}" does not hold a row that its change takes away',
        detail=f"{missing} of {wanted} rows were not found.",
        hint="refresh it with full=True.",
    )


def apply_local(
    transaction: Transaction, stored: Table, delta: pa.Table, key: tuple[str, ...] | None = None
) -> tuple[int, int]:
    """Rows added and rows removed; `delta` has the stored columns, typed so, and the weight, each row once."""
    names = [c.name for c in stored.columns]
    weights = delta.column(WEIGHT).to_numpy()
    came, went = weights > 0, weights < 0
    if went.any():
        leaving = delta.filter(pa.array(went))
        _remove(transaction, stored, leaving, -weights[went], key, names)
    arriving = _copies(delta.filter(pa.array(came)).select(names), weights[came]) if came.any() else None
    arrive(transaction, stored, arriving)
    return int(weights[came].sum()), int(-weights[went].sum())


def _copies(rows: pa.Table, weights: np.ndarray) -> pa.Table:
    return rows if (weights == 1).all() else rows.take(pa.array(np.repeat(np.arange(len(weights)), weights)))


def _remove(
    transaction: Transaction,
    stored: Table,
    leaving: pa.Table,
    copies: np.ndarray,
    key: tuple[str, ...] | None,
    names: list[str],
) -> None:
    """Find the stored rows that go, by key or by full content, as many copies as the weights say."""
    match = list(key) if key else names if key is None else []
    located = transaction.located(stored, bounds(stored, leaving, match), here=True)
    if isinstance(located.rows, Held):
        held = located.rows.rows
        pairs = matches(held, leaving, match)
        if pairs is not None:
            numbers, at = pairs
            files, positions = (held.column(name).to_numpy()[at] for name in (FILE, POSITION))
            take(transaction, stored, located, numbers, files, positions, copies)
            return
    spark = transaction.lake.desk if isinstance(located.rows, Held) else transaction.lake.spark
    wanted = leaving.select(match).append_column(_NUMBER, pa.array(np.arange(leaving.num_rows), pa.int64()))
    wanted = wanted.rename_columns([f"__trickle_m{n}" for n in range(len(match))] + [_NUMBER])
    rows, sought = as_frame(located.rows, spark), local_frame(spark, wanted)
    if isinstance(located.rows, Held):
        rows, sought = rows.coalesce(1), sought.coalesce(1)
    else:
        sought = F.broadcast(sought)
    found = to_arrow(rows.join(sought, same(stored, match)).select(_NUMBER, FILE, POSITION))
    numbers, files, positions = (found.column(n).to_numpy() for n in (_NUMBER, FILE, POSITION))
    take(transaction, stored, located, numbers, files, positions, copies)


def take(
    transaction: Transaction,
    stored: Table,
    located: Located,
    numbers: np.ndarray,
    files: np.ndarray,
    positions: np.ndarray,
    copies: np.ndarray,
) -> None:
    """Of each row that goes, by its number, so many of those found in files at positions."""
    order = np.lexsort((positions, files, numbers))
    numbers, files, positions = numbers[order], files[order], positions[order]
    held = np.bincount(numbers, minlength=len(copies)) if len(numbers) else np.zeros(len(copies), np.int64)
    if (held < copies).any():
        raise drift(stored, int((held < copies).sum()), len(copies))
    first = np.r_[0, np.cumsum(held)[:-1]]
    rank = np.arange(len(numbers)) - first[numbers]
    chosen = rank < copies[numbers]
    row_work.remove(transaction, stored, located, files[chosen], positions[chosen])


def same(stored: Table, match: list[str]) -> SparkColumn:
    condition = F.lit(True)
    for n, name in enumerate(match):
        column = stored.column(name)
        assert column is not None
        type = to_spark(column)
        left, right = F.col(quote_spark(name)), F.col(f"__trickle_m{n}").cast(type)
        condition = condition & comparable(left, type).eqNullSafe(comparable(right, type))
    return condition


def comparable(column: SparkColumn, type: DataType) -> SparkColumn:
    """The value in a form that Spark can compare: maps have no order, their sorted entries have."""
    if isinstance(type, MapType):
        return F.array_sort(F.map_entries(column))
    if isinstance(type, ArrayType) and _holds_map(type.elementType):
        return F.transform(column, lambda x: comparable(x, type.elementType))
    return column


def _holds_map(type: DataType) -> bool:
    if isinstance(type, StructType):
        return any(_holds_map(f.dataType) for f in type.fields)
    return isinstance(type, MapType) or (isinstance(type, ArrayType) and _holds_map(type.elementType))


def bounds(stored: Table, leaving: pa.Table, match: list[str]) -> list[Bound]:
    """What the rows that go tell about the files they stand in, by each plain column of the match."""
    columns = [column for name in match if (column := stored.column(name)) is not None and not column.children]
    found = [key_bound(column, leaving.column(column.name), null_safe=True) for column in columns]
    return [bound for bound in found if bound is not None]
