"""Parts are done after what they read, several at once, and not after an error."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trickle.ops.waves import Wave


def wave(sources: list[frozenset[int]], done: list[int], work: Callable[[int], None] = lambda _: None) -> Wave[int]:
    def prepare(part: int) -> Callable[[], int]:
        assert sources[part] <= set(done), "prepared before its sources were settled"

        def run() -> int:
            work(part)
            return part * 10

        return run

    def settle(part: int, result: int) -> None:
        assert result == part * 10
        done.append(part)

    return Wave(sources, prepare, settle)


@settings(deadline=None, max_examples=50)
@given(st.data(), st.integers(1, 5))
def test_every_part_is_done_once_after_its_sources(data: st.DataObject, workers: int) -> None:
    number = data.draw(st.integers(0, 12))
    sources = [frozenset(data.draw(st.sets(st.integers(0, n - 1))) if n else ()) for n in range(number)]
    done: list[int] = []
    wave(sources, done).run(workers)
    assert sorted(done) == list(range(number))


def test_parts_that_do_not_read_each_other_run_at_once() -> None:
    meet = threading.Barrier(3, timeout=20)
    done: list[int] = []

    def work(part: int) -> None:
        meet.wait()

    wave([frozenset()] * 3, done, work).run(3)
    assert sorted(done) == [0, 1, 2]


def test_one_worker_goes_in_order() -> None:
    done: list[int] = []
    wave([frozenset()] * 5, done).run(1)
    assert done == [0, 1, 2, 3, 4]


def test_an_error_lets_the_running_end_and_begins_nothing_more() -> None:
    begun: list[int] = []

    def work(part: int) -> None:
        begun.append(part)
        if part == 0:
            raise ValueError("boom")
        time.sleep(0.05)

    with pytest.raises(ValueError, match="boom"):
        wave([frozenset()] * 9, [], work).run(2)
    assert len(begun) <= 3
