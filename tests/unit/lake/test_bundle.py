"""Small files gone through as one give the rows that each gives for itself."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trickle.lake import local, reading
from trickle.lake.bundle import Bundle
from trickle.lake.local import Limits, read_small
from trickle.lake.model import ROW_ID_FIELD, Bound, Column, DataFile, Table
from trickle.lake.pieces import Piece
from trickle.lake.reading import Reading
from trickle.lake.scan import ScanRequest
from trickle.lake.shelf import Shelf
from trickle.lake.storage import Storage

K, V, LATE = Column(1, "K", "int64"), Column(2, "v", "varchar"), Column(3, "late", "int32")
LIMITS = Limits(1 << 30, 1 << 30)


def field(name: str, type: pa.DataType, id: int) -> pa.Field:
    return pa.field(name, type, metadata={"PARQUET:field_id": str(id)})


def write(folder: Path, number: int, rows: int, with_late: bool, with_ids: bool) -> DataFile:
    random = np.random.default_rng(number)
    keys = pa.array(random.integers(0, 9, rows), mask=random.random(rows) < 0.2)
    columns = {
        field("k", pa.int64(), 1): keys,
        field("v", pa.string(), 2): pa.array([f"{number}/{n}" for n in range(rows)]),
    }
    if with_late:
        columns[field("late", pa.int32(), 3)] = pa.array(random.integers(0, 5, rows), pa.int32())
    if with_ids:
        columns[field("_ducklake_internal_row_id", pa.int64(), ROW_ID_FIELD)] = pa.array(np.arange(rows) + 1000)
    path = folder / f"{number}.parquet"
    pq.write_table(pa.table(list(columns.values()), schema=pa.schema(list(columns))), path)
    return DataFile(number, str(path), rows, path.stat().st_size, 0, 100 * number, 1)


@pytest.fixture
def request_of_all(tmp_path: Path) -> ScanRequest:
    table = Table(1, "u", 0, "main", "t", f"{tmp_path}/", (K, V, LATE))
    files = [write(tmp_path, n, 40 + n, with_late=n % 2 == 0, with_ids=n % 3 == 0) for n in range(6)]
    gone = np.array([0, 3, 17])
    pieces = [
        Piece(files[0]),
        Piece(files[1], staged=gone),
        Piece(files[2], staged=gone, only_deleted=True, weight=-1),
        Piece(files[3], weight=-1),
        Piece(files[4], inlined=((5, 1), (6, 1)), dead=(0, 9)),
        Piece(files[5]),
    ]
    return ScanRequest(table, pieces)


def rows(request: ScanRequest) -> Counter[tuple[Any, ...]]:
    found = read_small(Storage(request.table.path), request, LIMITS, Shelf(1 << 20))
    assert found is not None
    return Counter(zip(*(column.to_pylist() for column in found.columns), strict=True))


@pytest.mark.parametrize("asked", ["plain", "addressed", "weighted"])
@pytest.mark.parametrize(
    "bounds",
    [
        (),
        (Bound("k", values=(1, 4, 7)),),
        (Bound("k", values=(2,), or_null=True), Bound("LATE", low=2)),
        (Bound("v", values=("1/0", "1/1", "5/2")), Bound("k", low=0)),
    ],
)
def test_together_or_apart_the_rows_are_the_same(
    request_of_all: ScanRequest, monkeypatch: pytest.MonkeyPatch, asked: str, bounds: tuple[Bound, ...]
) -> None:
    kinds = {"addressed": asked == "addressed", "weighted": asked == "weighted"}
    request = replace(request_of_all, bounds=bounds, **kinds)
    together = rows(request)
    monkeypatch.setattr(reading, "FEW_ROWS", 0)
    apart = rows(request)
    if not any(b.column == "LATE" for b in bounds):
        assert together == apart
        return
    # A file without the column has only NULLs there, which one of the two ways leaves out.
    assert together == Counter({row: n for row, n in apart.items() if row[2] is not None})


def test_pieces_are_taken_together_only_where_they_are_small(
    request_of_all: ScanRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kinds() -> list[type]:
        schema = local.arrow_schema(request_of_all)
        storage = Storage(request_of_all.table.path)
        return [type(part) for part in local._readings(storage, request_of_all, Shelf(1 << 20), schema)]

    assert kinds() == [Bundle]
    monkeypatch.setattr(reading, "FEW_ROWS", 42)
    assert kinds() == [Reading, Reading, Reading, Bundle]


def test_more_rows_than_there_is_room_for_are_left_to_spark(request_of_all: ScanRequest) -> None:
    storage = Storage(request_of_all.table.path)
    assert read_small(storage, request_of_all, Limits(1 << 30, 10), Shelf(1 << 20)) is None
    assert read_small(storage, request_of_all, Limits(10, 1 << 30), Shelf(1 << 20)) is None
