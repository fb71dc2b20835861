"""The proof of exactness: a stream table beside its query, computed in full at the table's data snapshot."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ....records import Record

if TYPE_CHECKING:
    import pyarrow as pa

    from ....session import Session


@dataclass(frozen=True)
class Proof(Record):
    """What was compared, and how long the query took when it was computed in full."""

    name: str
    data_snapshot: int
    snapshot: int
    rows: int
    differing: int
    """Rows that one side has and the other has not, copies counted."""
    full_ms: float


def prove(db: Session, name: str, query: str) -> Proof:
    """stored at its commit snapshot = query at its data snapshot, as multisets."""
    [status] = db.stream_table_status(name)
    assert status.data_snapshot is not None and status.snapshot is not None
    started = time.perf_counter()
    wanted = db.sql(as_of(query, status.data_snapshot)).toArrow()
    full_ms = (time.perf_counter() - started) * 1000
    held = db.table(name, at=status.snapshot).toArrow()
    return Proof(name, status.data_snapshot, status.snapshot, held.num_rows, differing(held, wanted), full_ms)


def as_of(query: str, snapshot: int) -> str:
    """The query with each of its tables read as of a snapshot.

    >>> as_of("SELECT 1 FROM a JOIN b AS c ON a.x = c.x", 7)
    'SELECT 1 FROM a VERSION AS OF 7 JOIN b VERSION AS OF 7 AS c ON a.x = c.x'
    """
    from ....sql.references import references

    for found in sorted(references(query), key=lambda r: r.start, reverse=True):
        query = f"{query[: found.end]} VERSION AS OF {snapshot}{query[found.end :]}"
    return query


def differing(left: pa.Table, right: pa.Table) -> int:
    """How many copies of rows only one of two tables has; NULL equals NULL.

    >>> import pyarrow as pa
    >>> differing(pa.table({"a": [1, 1, None]}), pa.table({"a": [None, 1, 2]}))
    2
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if left.column_names != right.column_names:
        return int(left.num_rows + right.num_rows)
    weighted = [
        side.append_column("__w", pa.array([weight] * side.num_rows, pa.int64()))
        for side, weight in ((left, 1), (right.cast(left.schema), -1))
    ]
    sums = pa.concat_tables(weighted).group_by(left.column_names).aggregate([("__w", "sum")])["__w_sum"]
    return int(pc.sum(pc.abs(sums)).as_py() or 0)
