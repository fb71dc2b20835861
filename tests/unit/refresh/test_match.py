"""Rows are matched by what they say, whatever their types: held against a comparison of each with each."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trickle.refresh.match import difference, matches

VALUES: dict[pa.DataType, tuple[Any, ...]] = {
    pa.int32(): (0, 1, -(2**31), 2**31 - 1),
    pa.bool_(): (True, False),
    pa.float64(): (0.0, -0.0, math.nan, -math.nan, math.inf, 0.1),
    pa.float32(): (0.0, -0.0, math.nan, 1.5),
    pa.string(): ("", "a", "A", "ä", "a "),
    pa.binary(): (b"", b"\xff", b"\x00"),
    pa.decimal128(20, 2): (Decimal("0.00"), Decimal("1.10"), Decimal("-1.10")),
    pa.date32(): (date(1970, 1, 1), date(1, 1, 1)),
    pa.timestamp("us", "UTC"): (datetime(1970, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 0, 0, 0, 1, UTC)),
}
SCHEMA = pa.schema([(str(type), type) for type in VALUES])


def rows() -> st.SearchStrategy[pa.Table]:
    row = st.fixed_dictionaries({str(t): st.sampled_from([None, *values]) for t, values in VALUES.items()})
    return st.lists(row, max_size=12).map(lambda found: pa.Table.from_pylist(found, SCHEMA))


def alike(one: Any, other: Any) -> bool:
    """Spark's `<=>`."""
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return bool(one == other)


@settings(max_examples=300, deadline=None)
@given(held=rows(), sought=rows(), names=st.lists(st.sampled_from(SCHEMA.names), unique=True))
def test_every_equal_row_is_found_and_no_other(held: pa.Table, sought: pa.Table, names: list[str]) -> None:
    found = matches(held, sought, names)
    assert found is not None
    expected = [
        (n, at)
        for n, wanted in enumerate(sought.to_pylist())
        for at, row in enumerate(held.to_pylist())
        if all(alike(row[name], wanted[name]) for name in names)
    ]
    assert list(zip(*(side.tolist() for side in found), strict=True)) == expected


@settings(max_examples=300, deadline=None)
@given(held=rows(), wanted=rows(), names=st.lists(st.sampled_from(SCHEMA.names), unique=True, max_size=2))
def test_the_difference_makes_the_one_the_other(held: pa.Table, wanted: pa.Table, names: list[str]) -> None:
    found = difference(held, wanted, names)
    assert found is not None
    gone, came = (side.tolist() for side in found)
    left, missing = held.to_pylist(), []
    for number, row in enumerate(wanted.to_pylist()):
        twin = next((r for r in left if all(alike(r[n], row[n]) for n in names)), None)
        if twin is None:
            missing.append(number)
        else:
            left.pop(next(at for at, r in enumerate(left) if r is twin))
    assert came == missing
    assert [repr(held.slice(n, 1).to_pylist()[0]) for n in gone] == [repr(row) for row in left]


@pytest.mark.parametrize(
    ("held", "sought"),
    [
        (pa.array([[1]]), pa.array([[1]])),
        (pa.array([{"a": 1.0}]), pa.array([{"a": 1.0}])),
        (pa.array([1], pa.int32()), pa.array([1], pa.int64())),
        (pa.array([1], pa.timestamp("us")), pa.array([1], pa.timestamp("us", "UTC"))),
        (pa.array([Decimal(1)], pa.decimal128(9, 1)), pa.array([Decimal(1)], pa.decimal128(9, 0))),
    ],
    ids=["lists", "structs", "other integers", "other timestamps", "other decimals"],
)
def test_what_only_spark_compares_is_left_to_it(held: pa.Array, sought: pa.Array) -> None:
    assert matches(pa.table({"a": held}), pa.table({"a": sought}), ["a"]) is None


def test_texts_are_texts_whatever_their_width() -> None:
    held, sought = pa.table({"a": pa.array(["x", None], pa.large_string())}), pa.table({"a": ["y", "x", None]})
    found = matches(held, sought, ["a"])
    assert found is not None and [side.tolist() for side in found] == [[1, 2], [0, 1]]
