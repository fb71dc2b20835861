"""Maintenance is due when refreshes have paid for its absence what it costs."""

from __future__ import annotations

from itertools import count

from trickle.lake.maintenance.worth import Job, alike, pace, weigh
from trickle.lake.model import DataFile, DeleteFile

MB = 1 << 20
REFRESHES = list(range(1, 101))
_IDS = count()


def file(begin: int, mb: float = 0.01, records: int = 1000, deleted: int = 0, deleted_since: int = 0) -> DataFile:
    delete = DeleteFile(1, "d", deleted, 1, 1, deleted_since) if deleted else None
    return DataFile(next(_IDS), "f", records, int(mb * MB), 1, 0, begin, delete=delete)


def is_due(*files: DataFile, refreshes: list[int] = REFRESHES, by_driver: bool = True, payback: float = 1.0) -> bool:
    [found] = weigh([Job(files, by_driver)], refreshes)
    return found.is_due(payback)


def test_files_that_came_with_the_last_refreshes_are_left_alone() -> None:
    assert not is_due(*(file(begin) for begin in range(96, 101)))


def test_files_that_many_refreshes_have_read_are_merged() -> None:
    assert is_due(*(file(begin) for begin in range(80, 101)))


def test_nobody_reads_so_nothing_pays() -> None:
    assert not is_due(*(file(begin) for begin in range(100)), refreshes=[])


def test_one_file_is_merged_with_nothing_however_often_it_is_read() -> None:
    assert not is_due(file(1))


def test_what_costs_more_has_to_be_read_more_often() -> None:
    files = [file(begin) for begin in range(90, 101)]
    assert is_due(*files) and not is_due(*files, by_driver=False)
    assert not is_due(*files, payback=10.0)
    assert not is_due(*(file(begin, mb=10) for begin in range(90, 101)))


def test_a_worn_file_is_rewritten_once_the_deleted_rows_have_cost_it() -> None:
    worn = file(0, mb=20, records=1_000_000, deleted=200_000, deleted_since=10)
    assert is_due(worn, by_driver=False)
    assert not is_due(file(0, mb=20, records=1_000_000, deleted=200_000, deleted_since=95), by_driver=False)
    assert not is_due(file(0, mb=20, records=1_000_000, deleted=2_000, deleted_since=10), by_driver=False)


def test_a_large_file_is_not_written_anew_for_the_sake_of_small_ones() -> None:
    small = [file(begin, mb=0.1) for begin in range(5)]
    assert alike([file(0, mb=20), *small]) == tuple(small)
    assert len(alike([file(0, mb=0.3), *small])) == 6


def test_earlier_jobs_teach_how_long_the_next_one_takes() -> None:
    slow = weigh([Job((file(80), file(81)), True)], REFRESHES, pace([(100, 300)] * 3))
    usual = weigh([Job((file(80), file(81)), True)], REFRESHES)
    assert slow[0].cost_ms == 3 * usual[0].cost_ms
    assert (pace([(1, 100)]), pace([(100, 1)])) == (5.0, 0.2)
