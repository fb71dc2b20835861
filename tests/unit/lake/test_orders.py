"""Keys found in a column in order are those found by going through it."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trickle.lake import shelf as shelves
from trickle.lake.model import Bound, DataFile
from trickle.lake.orders import WALKS, Order, Orders, keys_of
from trickle.lake.picked import picked
from trickle.lake.shelf import Shelf
from trickle.lake.storage import Storage
from trickle.lake.within import within

numbers = st.one_of(st.integers(-5, 5), st.sampled_from([-(2**63), 2**63 - 1]))


@given(
    column=st.lists(st.lists(st.one_of(st.none(), numbers), max_size=8), max_size=4),
    keys=st.lists(numbers, max_size=8),
    or_null=st.booleans(),
)
def test_an_order_finds_what_a_walk_finds(column: list[list[int | None]], keys: list[int], or_null: bool) -> None:
    held = pa.chunked_array(column, pa.int64())
    bound = Bound("k", values=tuple(sorted(keys)), or_null=or_null)
    sought = keys_of(bound, held.type)
    assert sought is not None
    assert Order.of(held).among(sought, or_null).tolist() == np.flatnonzero(within(held, bound)).tolist()


def test_days_are_found_and_other_values_are_left_to_a_walk() -> None:
    days = pa.chunked_array([[date(2024, 1, 1) + timedelta(n) for n in range(9)]])
    sought = keys_of(Bound("d", values=(date(2024, 1, 3),)), days.type)
    assert sought is not None and Order.of(days).among(sought, False).tolist() == [2]
    assert keys_of(Bound("d", values=(3,)), days.type) is None
    assert keys_of(Bound("k", values=(date(2024, 1, 3),)), pa.int64()) is None
    assert keys_of(Bound("k", values=(Decimal("1.5"),)), pa.int64()) is None
    assert keys_of(Bound("k", values=("a",)), pa.int64()) is None
    assert keys_of(Bound("k", values=(2**70,)), pa.int64()) is None
    assert keys_of(Bound("k", low=1), pa.int64()) is None


def test_a_column_is_put_in_order_when_it_was_gone_through_often_enough_and_there_is_room() -> None:
    column = pa.chunked_array([np.arange(100)])
    orders, without_room = Orders(1 << 20), Orders(0)
    assert [orders.of("a", column) is not None for _ in range(WALKS + 2)] == [False] * WALKS + [True] * 2
    assert not any(without_room.of("a", column) for _ in range(WALKS + 2))
    texts = pa.chunked_array([["x"]])
    assert not any(orders.of("b", texts) for _ in range(WALKS + 2))


def test_a_shelf_finds_the_same_rows_before_and_after_it_has_an_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelves, "FEW_ROWS", 0)
    rows = pa.table({"k": [n * 7 % 50 for n in range(100)], "v": range(100)})
    pq.write_table(rows, tmp_path / "rows.parquet", row_group_size=30)
    size = (tmp_path / "rows.parquet").stat().st_size
    shelf, storage = Shelf(1 << 20, order_bytes=1 << 20), Storage(str(tmp_path))
    footer = shelf.footer(storage, DataFile(1, str(tmp_path / "rows.parquet"), 100, size, 0, 0, 1))
    for n in range(2 * WALKS):
        for groups in ([0, 1, 2, 3], [1, 3]):
            data = shelf.read(footer, groups, ["k", "v"])
            # Other keys each time, or what was found last would be found again.
            bounds = (("v", Bound("v", low=5 + n)), ("k", Bound("k", values=(3, 14, 20 + n))))
            found = shelf.found(footer, groups, data, bounds)
            kept = [r for r in data.to_pylist() if r["v"] >= 5 + n and r["k"] in (3, 14, 20 + n)]
            assert data.take(pa.array(found)).to_pylist() == kept
    assert shelf._orders._orders.bytes > 0


@pytest.mark.parametrize(("many", "is_sought"), [(20, True), (30, False)])
def test_more_keys_than_a_walk_is_worth_are_not_sought_one_by_one(
    many: int, is_sought: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys beyond what a row group holds do not count: of a clustered column each has a few."""
    monkeypatch.setattr(shelves, "FEW_ROWS", 0)
    searches: list[int] = []
    among = Order.among
    monkeypatch.setattr(Order, "among", lambda *given: searches.append(1) or among(*given))
    rows = pa.table({"k": range(100)})
    pq.write_table(rows, tmp_path / "rows.parquet", row_group_size=50)
    size = (tmp_path / "rows.parquet").stat().st_size
    shelf, storage = Shelf(1 << 20, order_bytes=1 << 20), Storage(str(tmp_path))
    footer = shelf.footer(storage, DataFile(1, str(tmp_path / "rows.parquet"), 100, size, 0, 0, 1))
    for n in range(WALKS + 2):
        data = shelf.read(footer, [0, 1], ["k"])
        keys = (*range(n, n + many), *range(1000, 1000 + many))
        found = shelf.found(footer, [0, 1], data, (("k", Bound("k", values=keys)),))
        assert found.tolist() == list(range(n, n + many))
    assert bool(searches) == is_sought


def test_what_whole_numbers_leave_over_is_asked_for_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelves, "FEW_ROWS", 0)
    walked: list[str] = []
    monkeypatch.setattr(shelves, "within", lambda column, bound: walked.append(bound.column) or within(column, bound))
    rows = pa.table({"k": [n * 7 % 50 for n in range(100)], "text": [f"t{n % 4}" for n in range(100)]})
    pq.write_table(rows, tmp_path / "rows.parquet")
    size = (tmp_path / "rows.parquet").stat().st_size
    shelf, storage = Shelf(1 << 20, order_bytes=1 << 20), Storage(str(tmp_path))
    footer = shelf.footer(storage, DataFile(1, str(tmp_path / "rows.parquet"), 100, size, 0, 0, 1))
    data = shelf.read(footer, [0], ["k", "text"])
    bounds = (("text", Bound("text", values=("t1",))), ("k", Bound("k", values=(3, 14, 21))))
    found = shelf.found(footer, [0], data, bounds)
    assert data.take(pa.array(found)).to_pylist() == [
        r for r in rows.to_pylist() if r["k"] in (3, 14, 21) and r["text"] == "t1"
    ]
    assert walked == ["k", "text"]


@given(
    chunks=st.lists(st.lists(st.integers(0, 9), max_size=5), max_size=5), chosen=st.lists(st.booleans(), max_size=25)
)
def test_rows_are_picked_across_chunks(chunks: list[list[int]], chosen: list[bool]) -> None:
    rows = pa.table(
        {
            "k": pa.chunked_array(chunks, pa.int64()),
            "s": pa.chunked_array([list(map(str, c)) for c in chunks], pa.string()),
        }
    )
    numbers = np.array([n for n in range(rows.num_rows) if n < len(chosen) and chosen[n]], np.int64)
    assert picked(rows, numbers).equals(rows.take(pa.array(numbers)))
