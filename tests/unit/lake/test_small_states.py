"""Small tables that the driver holds."""

from __future__ import annotations

import pyarrow as pa

from trickle.lake.held import Held
from trickle.lake.model import Column, DataFile, Table
from trickle.lake.pieces import Piece
from trickle.lake.scan import ScanRequest
from trickle.lake.small_states import HOLDERS, SmallStates

COLUMN = Column(1, "k", "int64")
ROWS = pa.table({"k": pa.array(range(1000), pa.int64())})


def request(id: int) -> ScanRequest:
    table = Table(id, "", 0, "main", f"t{id}", "", (COLUMN,))
    return ScanRequest(table, [Piece(DataFile(id, f"{id}.parquet", 1000, 1, 0, 0, 1))])


def test_small_tables_are_kept_up_to_a_number_of_bytes_and_the_oldest_leave_first() -> None:
    states, read = SmallStates(3 * HOLDERS * ROWS.nbytes), []

    def ask(id: int) -> None:
        states.get(request(id), lambda: read.append(id) or Held(ROWS))  # type: ignore[func-returns-value]

    for id in (1, 2, 3, 1, 4, 1, 2):
        ask(id)
    assert read == [1, 2, 3, 4, 2]
    assert states.kept.bytes == states.kept.most_bytes


def test_a_table_beyond_the_budget_is_read_each_time() -> None:
    states = SmallStates(ROWS.nbytes)
    assert states.get(request(1), lambda: Held(ROWS)) is not None
    assert states.kept.bytes == 0
