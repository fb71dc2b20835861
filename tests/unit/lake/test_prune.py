"""A file that holds a row asked for is never pruned; one that plainly holds none is."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import BigInteger, Boolean, Connection, Integer, MetaData, String, Table, create_engine, insert, select
from sqlalchemy import Column as SqlColumn

from trickle.lake.model import Bound, Column, PartitionKey
from trickle.lake.model import Table as LakeTable
from trickle.lake.prune import Pruner, keeps, keeps_partition, sql_condition
from trickle.lake.text import render

KINDS: dict[str, st.SearchStrategy[Any]] = {
    "boolean": st.booleans(),
    "int32": st.integers(-50, 50),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "uint64": st.integers(0, 2**64 - 1),
    "float64": st.floats(),
    "float32": st.floats(width=32),
    "decimal(38,10)": st.decimals(-(10**27), 10**27, places=10) | st.decimals(-2, 2, places=10),
    "varchar": st.text(max_size=3),
    "blob": st.binary(max_size=3),
    "date": st.dates(),
    "timestamp": st.datetimes() | st.datetimes(datetime(2020, 1, 1), datetime(2020, 1, 1, 0, 0, 2)),
    "timestamptz": st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC)),
}
Case = tuple[Column, list[Any], Bound]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A column, the values of one file, and a bound in values of the same type."""
    type = draw(st.sampled_from(list(KINDS)))
    values = draw(st.lists(KINDS[type] | st.none(), min_size=1, max_size=5))
    literals = KINDS[type] | st.sampled_from([v for v in values if v is not None] or [None])
    if draw(st.booleans()):
        wanted = draw(st.lists(literals, max_size=4))
        return Column(1, "c", type), values, Bound("c", values=tuple(wanted), or_null=draw(st.booleans()))
    low, high = draw(literals | st.none()), draw(literals | st.none())
    return Column(1, "c", type), values, Bound("c", low, high, or_null=draw(st.booleans()))


def total(value: Any) -> Any:
    """NaN above all numbers and equal to itself, as Spark sorts."""
    return (value != value, 0 if value != value else value) if isinstance(value, float) else value


def satisfies(value: Any, bound: Bound) -> bool:
    if value is None:
        return bound.or_null
    if bound.low is not None and total(value) < total(bound.low):
        return False
    if bound.high is not None and total(value) > total(bound.high):
        return False
    return bound.values is None or any(v is not None and total(v) == total(value) for v in bound.values)


def facts(column: Column, values: list[Any]) -> tuple[str | None, str | None, int, int, bool | None]:
    """min, max, null count, value count, contains NaN: as the catalog has them."""
    known = [v for v in values if v is not None]
    numbers = [v for v in known if v == v]
    low, high = (render(min(numbers), column), render(max(numbers), column)) if numbers else (None, None)
    nan = len(numbers) < len(known) if column.type.startswith("float") else None
    return low, high, len(values) - len(known), len(known), nan


@given(cases())
def test_a_file_with_a_row_asked_for_is_kept(case: Case) -> None:
    column, values, bound = case
    if any(satisfies(value, bound) for value in values):
        assert keeps(bound, column, *facts(column, values))


@given(cases())
def test_missing_statistics_keep_the_file(case: Case) -> None:
    column, _, bound = case
    if asks_for_something(bound):
        assert keeps(bound, column, None, None, None, None)


def asks_for_something(bound: Bound) -> bool:
    return bound.or_null or bound.values is None or any(v is not None for v in bound.values)


STATS = Table(
    "ducklake_file_column_stats",
    MetaData(),
    SqlColumn("data_file_id", Integer),
    SqlColumn("value_count", BigInteger),
    SqlColumn("null_count", BigInteger),
    SqlColumn("min_value", String),
    SqlColumn("max_value", String),
    SqlColumn("contains_nan", Boolean),
)


@pytest.fixture(scope="module")
def database() -> Any:
    engine = create_engine("sqlite://")
    with engine.connect() as connection:
        STATS.create(connection)
        yield connection
    engine.dispose()


def found_by_sql(database: Connection, column: Column, bound: Bound, row: tuple[Any, ...]) -> bool:
    with database.begin_nested() as savepoint:
        names = ("min_value", "max_value", "null_count", "value_count", "contains_nan")
        database.execute(insert(STATS).values(data_file_id=1, **dict(zip(names, row, strict=True))))
        condition = sql_condition(bound, column, STATS, database.dialect.name)
        found = database.execute(select(STATS.c.data_file_id).where(condition)).first()
        savepoint.rollback()
    return found is not None


TINY = 3.194992e-43
"""A float32 with so few digits that the catalog's text of it, 3.2e-43, is another double."""


@example(case=(Column(1, "c", "float32"), [TINY], Bound("c", low=TINY, high=TINY)))
@given(case=cases())
def test_the_catalog_never_drops_what_the_driver_keeps(database: Connection, case: Case) -> None:
    column, values, bound = case
    row = facts(column, values)
    if keeps(bound, column, *row):
        assert found_by_sql(database, column, bound, row)


@given(case=cases())
def test_the_catalog_keeps_files_without_statistics(database: Connection, case: Case) -> None:
    column, _, bound = case
    if asks_for_something(bound):
        assert found_by_sql(database, column, bound, (None, None, None, None, None))


@pytest.mark.parametrize(
    "type, low, high, bound",
    [
        ("int32", "2", "9", Bound("c", low=10)),
        ("int32", "10", "11", Bound("c", high=9)),
        ("uint64", "1", "2", Bound("c", low=3)),
        ("float64", "1.0", "2.0", Bound("c", low=2.5)),
        ("float64", "1.0", "2.0", Bound("c", high=0.5)),
        ("float32", "0.1", "0.2", Bound("c", low=0.3)),
        ("decimal(10,2)", "-1.50", "9.00", Bound("c", low=10)),
        ("decimal(10,2)", "-1.50", "9.00", Bound("c", high=-2.0)),
        ("varchar", "b", "c", Bound("c", high="a")),
        ("varchar", "Z", "a", Bound("c", low="b")),
        ("date", "2020-01-01", "2020-01-31", Bound("c", low=date(2020, 2, 1))),
        ("date", "2020-01-01", "2020-01-31", Bound("c", low="2020-02-01")),
        ("timestamp", "2020-01-01 00:00:00", "2020-01-01 10:00:00.5", Bound("c", low=datetime(2020, 1, 1, 11))),
        ("timestamp", "2020-01-02 00:00:00", "2020-01-03 00:00:00", Bound("c", high=date(2020, 1, 1))),
        (
            "timestamptz",
            "2020-01-01 00:00:00+00",
            "2020-01-02 00:00:00+00",
            Bound("c", low=datetime(2020, 1, 3, tzinfo=UTC)),
        ),
        ("int32", "1", "5", Bound("c", values=(0, 6, 7))),
        ("int32", None, None, Bound("c", low=1)),
    ],
)
def test_files_that_plainly_hold_nothing_are_pruned_in_both_places(
    database: Connection, type: str, low: str | None, high: str | None, bound: Bound
) -> None:
    column = Column(1, "c", type)
    row = (low, high, 0 if low else 3, 5 if low else 0, False)
    assert not keeps(bound, column, *row)
    assert not found_by_sql(database, column, bound, row)


def test_files_between_many_values_are_refined_by_the_driver(database: Connection) -> None:
    column, bound = Column(1, "c", "int64"), Bound("c", values=tuple(range(0, 100_000, 100)))
    assert found_by_sql(database, column, bound, ("101", "199", 0, 5, None))
    assert not keeps(bound, column, "101", "199", 0, 5)


@pytest.mark.parametrize(
    "type, low, high, bound",
    [
        ("float64", "1.0", "2.0", Bound("c", low=5.0)),
        ("float64", "1.0", "2.0", Bound("c", values=(math.nan,))),
    ],
)
def test_nan_is_above_all_numbers(database: Connection, type: str, low: str, high: str, bound: Bound) -> None:
    column = Column(1, "c", type)
    for nan in (True, None):
        assert keeps(bound, column, low, high, 0, 2, nan)
        assert found_by_sql(database, column, bound, (low, high, 0, 2, nan))
    assert not keeps(bound, column, low, high, 0, 2, False)


@pytest.mark.parametrize(
    "type, text, literal",
    [
        ("int64", "9007199254740993", 9007199254740992.0),
        ("decimal(38,10)", "0.1000000000", 0.1),
        ("float32", "0.1", 0.10000000149011612),
        ("float32", "16777216.0", 16777217),
        ("float64", "0.1", Decimal("0.1")),
        ("float64", "9007199254740992.0", 9007199254740993),
        ("int32", "5", "5"),
        ("varchar", "5", 5),
        ("date", "2020-01-01", datetime(2020, 1, 1)),
        ("date", "2020-01-01", "2020-1-1"),
        ("timestamp", "2020-01-01 00:00:00", date(2020, 1, 1)),
        ("timestamp", "2020-01-01", datetime(2020, 1, 1)),
        ("timestamp", "2020-01-01 00:00:00", "2020-01-01"),
        ("timestamp", "2020-01-01 00:00:00", datetime(2020, 1, 1, 5, tzinfo=UTC)),
        ("timestamptz", "2020-01-01 00:00:00+00", "2020-01-01 05:00:00"),
        ("timestamptz", "2020-01-01 02:00:00+02", datetime(2020, 1, 1, tzinfo=UTC)),
        ("boolean", "1", 1),
        ("uuid", "a237e578-b922-401f-a7a4-a6952fabc350", "zzz"),
    ],
)
def test_literals_of_another_type_keep_what_spark_takes_for_equal(
    database: Connection, type: str, text: str, literal: object
) -> None:
    column = Column(1, "c", type)
    for bound in (Bound("c", low=literal), Bound("c", high=literal), Bound("c", values=(literal,))):
        assert keeps(bound, column, text, text, 0, 1, False)
        assert found_by_sql(database, column, bound, (text, text, 0, 1, False))


@pytest.mark.parametrize("text", ["0044-03-15 (BC)", "12020-01-01", "infinity", "-infinity"])
def test_far_dates_are_compared_by_age_not_by_letter(database: Connection, text: str) -> None:
    column, row = Column(1, "c", "date"), (text, text, 0, 1, None)
    for bound in (Bound("c", low=date(2020, 1, 1)), Bound("c", high=date(2020, 1, 1))):
        assert found_by_sql(database, column, bound, row)
    later = text in ("12020-01-01", "infinity")
    assert keeps(Bound("c", low=date(2020, 1, 1)), column, *row) is later
    assert keeps(Bound("c", high=date(2020, 1, 1)), column, *row) is not later


def test_only_nulls_are_kept_for_whoever_asks_for_null(database: Connection) -> None:
    column, row = Column(1, "c", "int32"), (None, None, 3, 0, None)
    wants_null, wants_values = Bound("c", values=(), or_null=True), Bound("c", low=1)
    assert keeps(wants_null, column, *row)
    assert found_by_sql(database, column, wants_null, row)
    assert not keeps(wants_values, column, *row)
    assert not keeps(wants_null, column, "1", "2", 0, 3)


def test_many_values_are_looked_up_not_scanned() -> None:
    pruner = Pruner.of(Bound("c", values=tuple(range(0, 2_000_000, 20))), Column(1, "c", "int64"))
    kept = [n for n in range(2000) if pruner.keeps(str(n * 7 + 1), str(n * 7 + 5), 0, 5)]
    assert kept == [n for n in range(2000) if any(v % 20 == 0 for v in range(n * 7 + 1, n * 7 + 6))]


def partitioned(type: str, *transforms: str) -> LakeTable:
    keys = tuple(PartitionKey(1, transform) for transform in transforms)
    return LakeTable(1, "", 0, "main", "t", "", (Column(1, "c", type),), partitioned_by=keys)


@given(case=cases())
def test_a_partition_with_a_row_asked_for_is_kept(case: Case) -> None:
    column, values, bound = case
    table = partitioned(column.type, "identity")
    for value in values:
        if satisfies(value, bound):
            assert keeps_partition([bound], table, [render(value, column)])


PARTS: dict[str, Callable[[datetime], int]] = {
    "year": lambda t: t.year,
    "month": lambda t: t.month,
    "day": lambda t: t.day,
    "hour": lambda t: t.hour,
}


@given(
    moment=st.datetimes(datetime(2019, 12, 1), datetime(2020, 2, 1)),
    low=st.datetimes(datetime(2019, 12, 1), datetime(2020, 2, 1)),
    width=st.timedeltas(timedelta(0), timedelta(days=20)),
    transforms=st.lists(st.sampled_from(list(PARTS)), min_size=1, max_size=4, unique=True),
)
def test_a_period_with_a_row_asked_for_is_kept(
    moment: datetime, low: datetime, width: timedelta, transforms: list[str]
) -> None:
    values = [str(PARTS[transform](moment)) for transform in transforms]
    if low <= moment <= low + width:
        assert keeps_partition([Bound("c", low, low + width)], partitioned("timestamp", *transforms), values)


@pytest.mark.parametrize(
    "type, transforms, values, bound",
    [
        ("int32", ["identity"], ["5"], Bound("c", values=(4, 6))),
        ("varchar", ["identity"], [None], Bound("c", low="a")),
        ("date", ["year"], ["2020"], Bound("c", low=date(2021, 1, 1))),
        ("date", ["year"], ["-43"], Bound("c", low=date(1, 1, 1))),
        ("timestamp", ["year", "month"], ["2020", "12"], Bound("c", high=datetime(2020, 11, 30, 23, 59))),
        ("timestamp", ["year", "month", "day"], ["2020", "2", "29"], Bound("c", low=datetime(2020, 3, 1))),
        (
            "timestamp",
            ["hour", "day", "month", "year"],
            ["5", "1", "1", "2020"],
            Bound("c", low=datetime(2020, 1, 1, 6)),
        ),
        ("timestamptz", ["year"], ["2020"], Bound("c", low=datetime(2021, 1, 3, tzinfo=UTC))),
    ],
)
def test_partitions_that_plainly_hold_nothing_are_pruned(
    type: str, transforms: list[str], values: list[str | None], bound: Bound
) -> None:
    assert not keeps_partition([bound], partitioned(type, *transforms), values)


@pytest.mark.parametrize(
    "type, transforms, values, bound",
    [
        ("timestamptz", ["year"], ["2020"], Bound("c", low=datetime(2021, 1, 1, 3, tzinfo=UTC))),
        ("timestamp", ["month"], ["3"], Bound("c", low=datetime(2020, 5, 1), high=datetime(2020, 6, 1))),
        ("date", ["year"], [None], Bound("c", low=date(2020, 1, 1))),
        ("int32", ["bucket(4)"], ["3"], Bound("c", values=(1,))),
        ("varchar", ["identity"], [""], Bound("c", values=("",))),
        ("int32", ["identity"], ["?"], Bound("c", values=(1,))),
        ("int32", ["identity"], [None], Bound("c", values=(1,), or_null=True)),
        ("int32", ["identity"], ["7"], Bound("other", low=8)),
    ],
)
def test_doubt_keeps_the_partition(type: str, transforms: list[str], values: list[str | None], bound: Bound) -> None:
    assert keeps_partition([bound], partitioned(type, *transforms), values)
