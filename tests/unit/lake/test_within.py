"""What lies within a bound, whichever way it is found out."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trickle.lake.model import Bound
from trickle.lake.within import MOST_MARKS, within

LEAST, MOST = -(2**63), 2**63 - 1
numbers = st.one_of(st.integers(-20, 20), st.integers(-(2**40), 2**40), st.just(2**31))


@given(
    column=st.lists(st.lists(st.one_of(st.none(), numbers), max_size=8), max_size=4),
    keys=st.lists(numbers, max_size=8),
    or_null=st.booleans(),
)
def test_whole_numbers(column: list[list[int | None]], keys: list[int], or_null: bool) -> None:
    held = pa.chunked_array(column, pa.int64())
    found = within(held, Bound("k", values=tuple(sorted(set(keys))), or_null=or_null))
    assert found.tolist() == [v in keys if v is not None else or_null for part in column for v in part]


@pytest.mark.parametrize("type", [pa.int8(), pa.int16(), pa.int32(), pa.int64()])
def test_the_ends_of_each_type(type: pa.DataType) -> None:
    least, most = -(2 ** (type.bit_width - 1)), 2 ** (type.bit_width - 1) - 1
    held = pa.chunked_array([[least, 0], [most]], type)
    for key in (least, 0, most):
        assert within(held, Bound("k", values=(key,)))[[least, 0, most].index(key)]
    assert within(held, Bound("k", values=(0, 1))).tolist() == [False, True, False]


def test_keys_far_apart_and_none() -> None:
    held = pa.chunked_array([np.arange(10)])
    assert within(held, Bound("k", values=(3, MOST_MARKS * 2))).tolist() == [n == 3 for n in range(10)]
    assert not within(held, Bound("k", values=())).any()
    assert within(held, Bound("k", values=("a",))).all()
    assert within(held, Bound("k", low=2, high=4)).sum() == 3


def test_texts_and_ranges_leave_null_out() -> None:
    held = pa.chunked_array([["a", None], ["b", "c"]])
    assert within(held, Bound("k", values=("a", "c"))).tolist() == [True, False, False, True]
    assert within(held, Bound("k", low="b")).tolist() == [False, False, True, True]
    assert within(held, Bound("k", high="a", or_null=True)).tolist() == [True, True, False, False]
