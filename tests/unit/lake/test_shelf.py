"""What the driver read last of data files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trickle.lake import shelf as shelves
from trickle.lake.model import Bound, DataFile
from trickle.lake.shelf import Shelf
from trickle.lake.storage import Storage

ROWS = pa.table({"k": range(100), "text": [f"row {n}" for n in range(100)]})


@pytest.fixture
def file(tmp_path: Path) -> DataFile:
    path = tmp_path / "rows.parquet"
    pq.write_table(ROWS, path, row_group_size=25)
    size = path.stat().st_size
    return DataFile(1, str(path), 100, size, 0, 0, 1)


def open_shelf(file: DataFile, most: int = 1 << 20) -> tuple[Shelf, Storage]:
    return Shelf(most), Storage(str(Path(file.path).parent))


def test_columns_of_row_groups_come_in_the_order_asked_for(file: DataFile) -> None:
    shelf, storage = open_shelf(file)
    footer = shelf.footer(storage, file)
    shelf.read(footer, [2], ["k"])
    found = shelf.read(footer, [1, 2], ["text", "k"])
    assert found.equals(ROWS.slice(25, 50).select(["text", "k"]))


def test_what_was_read_is_not_read_again(file: DataFile) -> None:
    shelf, storage = open_shelf(file)
    footer = shelf.footer(storage, file)
    assert shelf.cost(footer, [0, 1], ["k"]) > 0
    shelf.read(footer, [0, 1], ["k"])
    Path(file.path).unlink()
    assert shelf.cost(footer, [0, 1], ["k"]) == 0
    assert shelf.read(shelf.footer(storage, file), [1], ["k"]).column("k").to_pylist() == list(range(25, 50))


def test_the_budget_is_kept(file: DataFile) -> None:
    most = 2 * shelves.COLUMN_BYTES + 550
    shelf, storage = open_shelf(file, most)
    footer = shelf.footer(storage, file)
    for group in range(4):
        shelf.read(footer, [group], ["k"])
    assert shelf.bytes <= most
    assert 1 <= sum(shelf.cost(footer, [g], ["k"]) == 0 for g in range(4)) <= 2


def test_of_files_that_are_removed_nothing_is_kept(file: DataFile, tmp_path: Path) -> None:
    pq.write_table(ROWS, tmp_path / "other.parquet", row_group_size=25)
    other = replace(file, id=2, path=str(tmp_path / "other.parquet"))
    shelf, storage = open_shelf(file)
    first, second = (shelf.footer(storage, f) for f in (file, other))
    shelf.read(first, [0, 1], ["k"])
    shelf.read(second, [0], ["k"])
    shelf.forget({file.path})
    assert shelf.cost(first, [0, 1], ["k"]) > 0
    assert shelf.cost(second, [0], ["k"]) == 0
    assert shelf.footer(storage, other) is second
    assert shelf.footer(storage, file) is not first


def test_row_groups_read_together_share_no_memory(file: DataFile) -> None:
    shelf, storage = open_shelf(file)
    found = shelf.read(shelf.footer(storage, file), [0, 1, 2, 3], ["text"]).column("text")
    assert [len(chunk) for chunk in found.chunks] == [25] * 4
    assert all(chunk.get_total_buffer_size() < 2 * chunk.nbytes for chunk in found.chunks)


def test_footers_have_a_budget(file: DataFile) -> None:
    storage = Storage(str(Path(file.path).parent))
    shelf = Shelf(1 << 20, footer_bytes=0)
    assert shelf.footer(storage, file) is not shelf.footer(storage, file)
    shelf = Shelf(1 << 20)
    assert shelf.footer(storage, file) is shelf.footer(storage, file)


def test_without_a_budget_everything_is_read_each_time(file: DataFile) -> None:
    shelf, storage = open_shelf(file, most=0)
    footer = shelf.footer(storage, file)
    assert shelf.read(footer, [0, 3], ["k"]).num_rows == 50
    assert (shelf.bytes, shelf.cost(footer, [0], ["k"]) > 0) == (0, True)


def test_statistics_tell_where_a_key_can_be(file: DataFile) -> None:
    shelf, storage = open_shelf(file)
    stats = shelf.footer(storage, file).stats("k")
    assert [(s.min, s.max, s.nulls) for s in stats] == [(0, 24, 0), (25, 49, 0), (50, 74, 0), (75, 99, 0)]


def test_no_row_group_is_an_empty_table_of_the_columns(file: DataFile) -> None:
    shelf, storage = open_shelf(file)
    assert shelf.read(shelf.footer(storage, file), [], ["text"]).schema.field("text").type == pa.string()


@pytest.mark.parametrize(
    "values",
    [
        pa.array([0, 2**31 - 1], pa.int32()).cast(pa.date32()),
        pa.array([0, 2**63 - 1], pa.int64()).cast(pa.timestamp("us")),
        pa.array([b"a", b"\xff"]).view(pa.string()),
    ],
    ids=["date", "timestamp", "text"],
)
def test_values_that_python_does_not_have_give_no_range(tmp_path: Path, values: pa.Array) -> None:
    pq.write_table(pa.table({"v": values}), tmp_path / "far.parquet")
    file = DataFile(1, str(tmp_path / "far.parquet"), 2, 1, 0, 0, 1)
    shelf, storage = open_shelf(file)
    (stats,) = shelf.footer(storage, file).stats("v")
    assert not stats.has_range and stats.bytes > 0


def test_rows_that_were_found_are_not_sought_again(file: DataFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelves, "FEW_ROWS", 10)
    shelf, storage = open_shelf(file)
    footer = shelf.footer(storage, file)
    data = shelf.read(footer, [1, 3], ["k"])
    asked = (("k", Bound("k", values=(3, 26, 99))),)
    assert shelf.found(footer, [1, 3], data, asked).tolist() == [1, 49]
    empty = data.slice(0, 0)
    assert shelf.found(footer, [1, 3], empty, asked).tolist() == []  # few rows are gone through
    other = data.slice(0, 20)
    assert shelf.found(footer, [1, 3], other, asked).tolist() == [1, 49]
    assert shelf.found(footer, [1], other, asked).tolist() == [1]
