"""Statistics of a file are those of its rows, whatever its footer leaves out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import count, permutations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trickle.errors import FileMissing, LakeError
from trickle.lake.bounds import LONGEST, at_least, at_most
from trickle.lake.footer import Footer, read_footer, read_footers
from trickle.lake.model import Column, ColumnStats
from trickle.lake.stats import TableColumnStats, merge_stats
from trickle.lake.text import key
from trickle.lake.types import from_spark, parse_ddl, to_arrow

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "boolean": st.booleans(),
    "int": st.integers(-(2**31), 2**31 - 1),
    "bigint": st.integers(-(2**63), 2**63 - 1),
    "double": st.floats(),
    "float": st.floats(width=32),
    "decimal(38,10)": st.decimals(-(10**27), 10**27, places=10),
    "string": st.text(max_size=5),
    "binary": st.binary(max_size=5),
    "date": st.dates(),
    "timestamp_ntz": st.datetimes(),
}


def columns(*types: str) -> tuple[Column, ...]:
    ids = count(1)
    return tuple(from_spark(f"c{n}", parse_ddl(type), ids) for n, type in enumerate(types))


def write(path: Path, tree: Sequence[Column], rows: Iterable[Sequence[Any]], **options: Any) -> str:
    records = [dict(zip([c.name for c in tree], row, strict=True)) for row in rows]
    pq.write_table(pa.Table.from_pylist(records, schema=to_arrow(tree)), path, **options)
    return str(path)


def stats(path: Path, type: str, values: Iterable[Any], **options: Any) -> ColumnStats:
    tree = columns(type)
    (only,) = read_footer(write(path / "f.parquet", tree, ([v] for v in values), **options), tree).stats
    return only


@pytest.mark.parametrize("type", VALUES)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_min_and_max_are_those_of_the_rows(tmp_path: Path, type: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(VALUES[type] | st.none(), min_size=1, max_size=12))
    found = stats(tmp_path, type, values, row_group_size=3)
    known = [v for v in values if v is not None]
    numbers = [v for v in known if v == v]
    lake_type = columns(type)[0].type
    assert (found.value_count, found.null_count) == (len(known), len(values) - len(known))
    assert found.contains_nan == (len(numbers) < len(known) if type in ("double", "float") else None)
    assert (found.min is None, found.max is None) == (not numbers, not numbers)
    if found.min is not None and found.max is not None and type != "string":
        low, high = key(found.min, lake_type), key(found.max, lake_type)
        assert (low, high) == (as_key(min(numbers)), as_key(max(numbers)))
    if found.min is not None and found.max is not None and type == "string":
        assert found.min <= min(numbers)
        assert found.max >= max(numbers)
        assert "\0" not in found.min + found.max


def as_key(value: Any) -> Any:
    if isinstance(value, datetime):
        return round((value - datetime(1970, 1, 1)).total_seconds() * 10**6) if value.year == 1970 else exact(value)
    return value.toordinal() - date(1970, 1, 1).toordinal() if isinstance(value, date) else value


def exact(value: datetime) -> int:
    passed = value - datetime(1970, 1, 1)
    return (passed.days * 86_400 + passed.seconds) * 10**6 + passed.microseconds


@pytest.mark.parametrize(
    "type, values, low, high",
    [
        ("boolean", [True, False], "0", "1"),
        ("double", [-0.0, -0.0], "0.0", "0.0"),
        ("double", [math.nan, 1e16, None], "1e+16", "1e+16"),
        ("double", [-math.inf, math.inf], "-inf", "inf"),
        ("float", [0.1], "0.1", "0.1"),
        ("decimal(10,2)", [Decimal("1.5")], "1.50", "1.50"),
        ("binary", [b"", b"\xaa\x00ab"], "", "AA006162"),
        ("string", ["", "zé"], "", "zé"),
        ("date", [date(1, 1, 1), date(9999, 12, 31)], "0001-01-01", "9999-12-31"),
        ("timestamp_ntz", [datetime(2020, 1, 1, 1, 2, 3, 100000)], "2020-01-01 01:02:03.1", "2020-01-01 01:02:03.1"),
        ("timestamp", [datetime(2020, 1, 1)], "2020-01-01 00:00:00+00", "2020-01-01 00:00:00+00"),
    ],
)
def test_min_and_max_are_written_as_duckdb_writes_them(
    tmp_path: Path, type: str, values: list[Any], low: str, high: str
) -> None:
    found = stats(tmp_path, type, values)
    assert (found.min, found.max) == (low, high)


def test_a_column_of_nulls_has_no_min_and_no_max(tmp_path: Path) -> None:
    found = stats(tmp_path, "double", [None, None])
    assert (found.value_count, found.null_count, found.min, found.max, found.contains_nan) == (0, 2, None, None, False)


def test_long_strings_leave_short_bounds_that_hold(tmp_path: Path) -> None:
    texts = ["b" * 9000, "é" * 9000, "a" * 300]
    found = stats(tmp_path, "string", texts)
    assert found.min is not None and found.max is not None
    assert found.min <= min(texts) and max(texts) <= found.max
    assert len(found.min.encode()) <= LONGEST and len(found.max.encode()) <= LONGEST


def test_a_file_written_without_statistics_is_read(tmp_path: Path) -> None:
    found = stats(tmp_path, "int", [3, None, 1, 2], write_statistics=False)
    assert (found.value_count, found.null_count, found.min, found.max) == (3, 1, "1", "3")


def test_leaves_inside_nested_columns_have_statistics_of_their_own(tmp_path: Path) -> None:
    tree = columns(
        "int", "array<int>", "struct<a:int,b:string>", "map<string,struct<q:array<double>>>", "array<array<int>>"
    )
    rows = [
        (1, [1, None, 3], {"a": 1, "b": None}, [("x", {"q": [1.0, math.nan]})], [[1], [], None]),
        (2, None, None, None, None),
        (3, [], {"a": None, "b": "z"}, [], []),
    ]
    found = read_footer(write(tmp_path / "f.parquet", tree, rows), tree).stats
    assert [(s.column_id, s.value_count, s.null_count, s.min, s.max, s.contains_nan) for s in found] == [
        (1, 3, 0, "1", "3", None),
        (3, 2, 3, "1", "3", None),
        (5, 1, 2, "1", "1", None),
        (6, 1, 2, "z", "z", None),
        (8, 1, 2, "x", "x", None),
        (11, 2, 2, "1.0", "1.0", True),
        (14, 1, 4, "1", "1", None),
    ]


def test_columns_are_found_by_id_under_another_name_and_by_name_without_ids(tmp_path: Path) -> None:
    tree = columns("int", "struct<a:int>")
    renamed = [Column(c.id, f"new_{c.name}", c.type, children=c.children) for c in tree]
    with_ids = read_footer(write(tmp_path / "ids.parquet", tree, [(1, {"a": 2})]), renamed)
    bare = pa.table({"C0": [1], "other": [9], "c1": pa.array([{"A": 2}])})
    pq.write_table(bare, tmp_path / "bare.parquet")
    without = read_footer(str(tmp_path / "bare.parquet"), tree)
    assert [(s.column_id, s.min) for s in with_ids.stats] == [(1, "1"), (3, "2")]
    assert [(s.column_id, s.min) for s in without.stats] == [(1, "1"), (3, "2")]


def test_a_column_with_a_dot_in_its_name_is_not_taken_for_a_field(tmp_path: Path) -> None:
    table = pa.table({"a": pa.array([{"b": 1.0}]), "a.b": [5.0]})
    pq.write_table(table, tmp_path / "f.parquet")
    tree = (Column(1, "a", "struct", children=(Column(2, "b", "float64"),)), Column(3, "a.b", "float64"))
    found = read_footer(str(tmp_path / "f.parquet"), tree).stats
    assert [(s.column_id, s.min) for s in found] == [(2, "1.0"), (3, "5.0")]


def test_sizes_are_those_of_the_file(tmp_path: Path) -> None:
    tree = columns("int")
    path = write(tmp_path / "f.parquet", tree, [(1,), (2,)])
    raw = Path(path).read_bytes()
    found = read_footer(path, tree)
    assert (found.records, found.bytes, found.footer_bytes) == (2, len(raw), int.from_bytes(raw[-8:-4], "little"))
    assert read_footer("f.parquet", tree, pa.fs.SubTreeFileSystem(str(tmp_path), pa.fs.LocalFileSystem())) == found


def test_many_footers_come_in_order(tmp_path: Path) -> None:
    tree = columns("int")
    paths = [write(tmp_path / f"{n}.parquet", tree, [(n,)]) for n in range(20)]
    found: list[Footer] = read_footers(paths, tree)
    assert [f.stats[0].min for f in found] == [str(n) for n in range(20)]


def test_a_missing_or_broken_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(FileMissing, match=r"gone\.parquet"):
        read_footer(str(tmp_path / "gone.parquet"), columns("int"))
    (tmp_path / "torn.parquet").write_bytes(b"PAR1 torn")
    with pytest.raises(LakeError, match=r"torn.parquet.* not a whole Parquet file"):
        read_footer(str(tmp_path / "torn.parquet"), columns("int"))


@given(
    st.binary(max_size=600)
    | st.text(max_size=400).map(str.encode)
    | st.text("\U0010ffff\ud7ff\xff", max_size=90).map(str.encode)
)
def test_bounds_of_strings_hold_and_are_sound_text(text: bytes) -> None:
    low, high = at_most(text, "varchar"), at_least(text, "varchar")
    assert low.encode() <= text
    assert "\0" not in low + high
    try:
        text.decode()
    except UnicodeDecodeError:
        return
    assert text <= high.encode()


@given(st.binary(max_size=600) | st.just(b"\xff" * 300))
def test_bounds_of_blobs_hold_and_are_short(blob: bytes) -> None:
    low, high = at_most(blob, "blob"), at_least(blob, "blob")
    assert low <= blob <= high
    assert len(low) <= LONGEST


INT = (Column(1, "i", "int32"),)
DOUBLE = (Column(1, "d", "float64"),)
NOTHING = ColumnStats(1, 0, 0, 3, None, None)


def of(*values: Any) -> ColumnStats:
    known = [v for v in values if v is not None]
    nan = any(v != v for v in known)
    numbers = [v for v in known if v == v]
    low, high = (str(min(numbers)), str(max(numbers))) if numbers else (None, None)
    return ColumnStats(1, 0, len(known), len(values) - len(known), low, high, nan)


def table(files: Iterable[ColumnStats], tree: Sequence[Column] = INT) -> TableColumnStats:
    """Merge file after file, each its own commit."""
    current: dict[int, TableColumnStats] = {}
    done: list[ColumnStats] = []
    for file in files:
        current = merge_stats(current, [file], tree, lambda column_id: tuple(done))
        done.append(file)
    return current[1]


@given(st.lists(st.lists(st.integers(-20, 20) | st.none(), min_size=1, max_size=4), min_size=1, max_size=5))
def test_merged_statistics_bound_all_rows_in_any_order(files: list[list[int | None]]) -> None:
    known = [v for file in files for v in file if v is not None]
    for order in list(permutations(files))[:6]:
        merged = table(of(*file) for file in order)
        assert merged.contains_null == any(None in file for file in files)
        assert (merged.min, merged.max) == ((str(min(known)), str(max(known))) if known else (None, None))


def test_numbers_are_compared_as_numbers() -> None:
    assert table([of(9), of(10)]).max == "10"


def test_a_file_of_nan_alone_takes_nothing_from_the_range() -> None:
    merged = table([of(1.0, 5.0), of(math.nan), of(2.0)], DOUBLE)
    assert (merged.min, merged.max, merged.contains_nan) == ("1.0", "5.0", True)


def test_a_range_that_duckdb_lost_is_found_again_in_the_files() -> None:
    lost = {1: TableColumnStats(1, True, None, None, None)}
    merged = merge_stats(lost, [of(5)], INT, lambda column_id: [of(1, 3), NOTHING])
    assert (merged[1].min, merged[1].max) == ("1", "5")


def test_a_range_nobody_knows_stays_unknown() -> None:
    unseen = ColumnStats(1, 0, 7, 0, None, None)
    lost = {1: TableColumnStats(1, False, None, None, None)}
    merged = merge_stats(lost, [of(5), of(6)], INT, lambda column_id: [unseen])
    assert (merged[1].min, merged[1].max) == (None, None)
    half = {1: TableColumnStats(1, False, None, None, "9")}
    assert merge_stats(half, [of(5)], INT, lambda column_id: [of(9)])[1].max is None


def test_a_column_added_to_a_table_with_rows_stays_without_statistics() -> None:
    current = {1: TableColumnStats(1, False, None, "1", "1")}
    added = ColumnStats(2, 0, 1, 0, "7", "7")
    merged = merge_stats(current, [of(2), added], (*INT, Column(2, "z", "int32")), lambda column_id: ())
    assert list(merged) == [1]


def test_statistics_of_unknown_columns_are_left_out() -> None:
    row_ids = ColumnStats(2147483540, 0, 1, 0, "7", "7")
    assert merge_stats({}, [row_ids], INT, lambda column_id: ()) == {}
