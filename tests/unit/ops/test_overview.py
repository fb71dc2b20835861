"""A catalog is slow if it answers slowly every time; a hiccup, of either side, is none of its faults."""

from __future__ import annotations

from itertools import accumulate, chain, repeat

import pytest

from trickle.ops.overview import SLOW, TRIES, answered


@pytest.mark.parametrize(
    ("answers", "seconds", "asked"),
    [
        ([0.001], 0.001, 1),
        ([1.7, 0.001], 0.001, 2),
        ([1.7, 2.0, 0.5], 0.5, 3),
        ([3.0, 1.7, 2.0], 1.7, TRIES),
        ([SLOW, SLOW, SLOW], SLOW, TRIES),
    ],
)
def test_the_quickest_answer_counts_and_a_quick_one_is_enough(answers: list[float], seconds: float, asked: int) -> None:
    # The clock is looked at before and after each question.
    moments = accumulate(chain.from_iterable(zip(repeat(0.0), answers, strict=False)))
    times: list[int] = []
    found, took = answered(lambda: times.append(1), clock=lambda: next(moments))
    assert found is None and took == pytest.approx(seconds) and len(times) == asked
