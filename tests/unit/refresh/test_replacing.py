"""A file ends with the refresh that takes most of its rows, where that costs less than to name them."""

from __future__ import annotations

from trickle.lake.model import DataFile
from trickle.refresh.replacing import pays


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
