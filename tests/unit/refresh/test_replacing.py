"""A file ends with the refresh that takes most of its rows, where that costs less than to name them."""

from __future__ import annotations

from trickle.lake.model import DataFile
from trickle.refresh.replacing import SMALL_FILE, pays, together


def file(records: int, mb: float) -> DataFile:
    return DataFile(1, "f", records, int(mb * 2**20), 1, 0, 1)


def test_few_rows_that_stay_are_written_anew() -> None:
    assert pays(file(1_000_000, 17), 950_000, 0.8)


def test_a_file_that_keeps_its_rows_is_left() -> None:
    assert not pays(file(1_000_000, 17), 500_000, 0.8)
    assert pays(file(1_000_000, 17), 900_000, 0.5) and not pays(file(1_000_000, 17), 900_000, 0.95)


def test_of_a_small_file_names_are_cheaper_than_another_file() -> None:
    assert not pays(file(1_000, 0.1), 950, 0.8)


def test_a_file_that_loses_every_row_ends_anyway() -> None:
    assert not pays(file(1_000_000, 17), 1_000_000, 0.8)


def small(id: int, records: int) -> DataFile:
    return DataFile(id, f"f{id}", records, records * 10, 1, 0, 1)


def test_small_files_go_together_while_no_more_is_written_than_moves_anyway() -> None:
    worn = [(small(1, 100), 40), (small(2, 50), 30), (small(3, 400), 10)]
    assert [f.id for f in together(worn, moved=90)] == [2, 1]
    assert [f.id for f in together(worn, moved=60)] == [2]
    assert [f.id for f in together(worn, moved=19)] == []


def test_files_that_are_large_or_lose_every_row_or_few_are_none_of_them() -> None:
    worn = [(small(1, SMALL_FILE + 1), SMALL_FILE), (small(2, 50), 50), (small(3, 50), 10)]
    assert list(together(worn, moved=1000)) == []
