"""Texts are those that DuckDB writes, and come back as the values they were."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trickle.errors import LakeError
from trickle.lake import instants
from trickle.lake.model import Column
from trickle.lake.text import key, key_text, parse, render

days = st.integers(-2_000_000, 5_000_000)
micros = st.integers(-(2**57), 2**59)
hard_strings = st.text(alphabet="ab ,:=[]{}()'\"\\\n\té😀", max_size=6) | st.sampled_from(["NULL", "null", " NULL"])


def column(type: str, *children: Column, name: str = "c") -> Column:
    return Column(1, name, type, children=children)


LISTS = column("list", column("varchar", name="element"))
MAPS = column("map", column("varchar", name="key"), column("varchar", name="value"))
STRUCTS_IN_LISTS = column("list", column("struct", column("varchar", name="x y'"), column("int32", name="n")))


@pytest.fixture(scope="module")
def duck() -> Any:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    with connection:
        yield connection


def as_text(duck: duckdb.DuckDBPyConnection, value: Any, type: str) -> str:
    row = duck.execute(f"SELECT CAST(CAST(? AS {type}) AS VARCHAR)", [value]).fetchone()
    assert row is not None
    return str(row[0])


@given(number=days)
def test_dates_of_all_ages_are_written_as_duckdb_writes_them(duck: Any, number: int) -> None:
    row = duck.execute("SELECT (DATE '1970-01-01' + ?::INT)::DATE::VARCHAR", [number]).fetchone()
    assert instants.days_text(number) == row[0]
    assert instants.text_days(row[0]) == number


@given(number=micros)
def test_moments_of_all_ages_are_written_as_duckdb_writes_them(duck: Any, number: int) -> None:
    plain, zoned = duck.execute(
        "SELECT make_timestamp(?)::VARCHAR, make_timestamptz(?)::VARCHAR", [number] * 2
    ).fetchone()
    assert (instants.micros_text(number), instants.micros_text(number, "+00")) == (plain, zoned)
    assert (instants.text_micros(plain), instants.text_micros(zoned)) == (number, number)


@given(number=st.floats(allow_nan=False))
def test_doubles_are_written_as_duckdb_writes_them(duck: Any, number: float) -> None:
    assert key_text(number, "float64") == as_text(duck, number + 0.0, "DOUBLE")


@given(number=st.floats(width=32, allow_nan=False))
def test_floats_are_written_as_duckdb_writes_them(duck: Any, number: float) -> None:
    ours, theirs = key_text(number, "float32"), as_text(duck, number + 0.0, "FLOAT")
    # Of some floats DuckDB writes the digits of a double: 1048576.75, for which 1048576.8 is enough.
    assert ours == theirs or theirs == repr(number)
    assert as_text(duck, ours, "FLOAT") == theirs, "DuckDB reads the same number from it"
    assert key(key_text(number, "float32"), "float32") == number


@given(number=st.decimals(min_value=-(10**27), max_value=10**27, places=10))
def test_decimals_are_written_with_all_their_places(duck: Any, number: Decimal) -> None:
    assert key_text(number, "decimal(38,10)") == as_text(duck, str(number), "DECIMAL(38,10)")


def test_negative_zero_is_written_as_zero() -> None:
    assert key_text(-0.0, "float64") == "0.0"


@pytest.mark.parametrize(
    "type, values",
    [
        ("boolean", [True, False]),
        ("int64", [-(2**63), 0, 2**63 - 1]),
        ("float64", [-1.5, 0.1, math.inf]),
        ("decimal(10,2)", [Decimal("-1.50"), Decimal("0.00")]),
        ("varchar", ["", "NULL", "it's"]),
        ("date", [date(1, 1, 1), date(9999, 12, 31)]),
        ("timestamp", [datetime(1, 1, 1), datetime(2020, 1, 1, 1, 2, 3, 500000)]),
        ("timestamptz", [datetime(2020, 1, 1, 1, 2, 3, 4, tzinfo=UTC)]),
        ("uuid", [UUID("a237e578-b922-401f-a7a4-a6952fabc350")]),
    ],
)
def test_rendered_values_are_parsed_back(type: str, values: list[object]) -> None:
    for value in values:
        text = render(value, column(type))
        assert text is not None
        assert parse(text, column(type)) == value


def test_null_has_no_text_and_no_text_is_null() -> None:
    assert render(None, column("int32")) is None
    assert parse(None, column("int32")) is None


@pytest.mark.parametrize(
    "stored, type, expected",
    [
        (1, "boolean", True),
        ("false", "boolean", False),
        ("18446744073709551615", "uint64", 2**64 - 1),
        ("-inf", "float64", -math.inf),
        (0.1, "float32", 0.10000000149011612),
        (b"a\x00b", "varchar", "a\x00b"),
        (memoryview(b"\xaa"), "blob", b"\xaa"),
        ("\\xAA\\x00ab", "blob", b"\xaa\x00ab"),
        (Decimal("1.50"), "decimal(10,2)", Decimal("1.50")),
        ("2020-01-01 01:02:03.1", "timestamp", datetime(2020, 1, 1, 1, 2, 3, 100000)),
        ("2020-01-01", "timestamp", datetime(2020, 1, 1)),
        ("2020-01-01 01:02:03-03:30", "timestamptz", datetime(2020, 1, 1, 4, 32, 3, tzinfo=UTC)),
        (datetime(2020, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))), "timestamptz", datetime(2020, 1, 1, tzinfo=UTC)),
        ('{"a": 1}', "json", '{"a": 1}'),
    ],
)
def test_values_of_either_catalog_are_read(stored: object, type: str, expected: object) -> None:
    assert parse(stored, column(type)) == expected


@pytest.mark.parametrize(
    "text, type",
    [
        ("infinity", "date"),
        ("-infinity", "timestamp"),
        ("0044-03-15 (BC)", "date"),
        ("12020-01-01 00:00:00+00", "timestamptz"),
        ("yes", "boolean"),
        ("12x", "int32"),
        ("yesterday", "date"),
    ],
)
def test_what_python_cannot_hold_is_an_error_that_names_the_column(text: str, type: str) -> None:
    with pytest.raises(LakeError, match=f'value of column "c" cannot be read as {type}') as caught:
        parse(text, column(type))
    assert text in caught.value.detail


@given(value=st.lists(hard_strings | st.none(), max_size=4))
def test_lists_of_hard_strings_are_read_back(duck: Any, value: list[str | None]) -> None:
    assert parse(as_text(duck, value, "VARCHAR[]"), LISTS) == value


@given(value=st.dictionaries(hard_strings, hard_strings | st.none(), max_size=3))
def test_maps_of_hard_strings_are_read_back(duck: Any, value: dict[str, str | None]) -> None:
    query = "SELECT CAST(MAP(?::VARCHAR[], ?::VARCHAR[]) AS VARCHAR)"
    text = duck.execute(query, [list(value), list(value.values())]).fetchone()[0]
    assert parse(text, MAPS) == list(value.items())


@given(value=st.lists(st.tuples(hard_strings | st.none(), st.integers(0, 9) | st.none()) | st.none(), max_size=3))
def test_structs_in_lists_are_read_back(duck: Any, value: list[tuple[str | None, int | None] | None]) -> None:
    rows = [None if v is None else {"x y'": v[0], "n": v[1]} for v in value]
    assert parse(as_text(duck, rows, """STRUCT("x y'" VARCHAR, n INT)[]"""), STRUCTS_IN_LISTS) == rows


def test_the_string_null_is_not_null() -> None:
    assert parse("['NULL', NULL, 'null', '']", LISTS) == ["NULL", None, "null", ""]


def test_an_inlined_struct_of_sql_literals_is_read() -> None:
    literals = column(
        "struct",
        column("date", name="it's"),
        column("float64", name="f"),
        column("blob", name="b"),
        column("varchar", name="s"),
        column("list", column("varchar", name="element"), name="l"),
    )
    dates = "{'it''s': CAST('2020-01-01' AS DATE), 'f': CAST('nan' AS VARCHAR), "
    text = dates + "'b': CAST('\\xAA,' AS BLOB), 's': 'a\\''b', 'l': [x, 'y, z']}"
    read = parse(text, literals)
    assert math.isnan(read.pop("f"))
    assert read == {"it's": date(2020, 1, 1), "b": b"\xaa,", "s": "a\\'b", "l": ["x", "y, z"]}


def test_an_inlined_string_is_read_as_duckdb_reads_it_quotes_lost() -> None:
    struct = column("struct", column("varchar", name="a"))
    assert parse("{'a': 'x''y\\z'}", struct) == {"a": "xyz"}


def test_json_inside_a_list_keeps_its_commas() -> None:
    documents = column("list", column("json", name="element"))
    assert parse('[{"a": [1, "x,]"]}, NULL, 1]', documents) == ['{"a": [1, "x,]"]}', None, "1"]


@pytest.mark.parametrize("text", ["[1, 2", "[1 2]]", "{'x': 1}", "[1], [2]"])
def test_broken_nested_text_is_an_error(text: str) -> None:
    with pytest.raises(LakeError, match='value of column "c"'):
        parse(text, column("list", column("int32", name="element")))


def test_keys_sort_as_their_column_does() -> None:
    assert key("9", "int32") < key("10", "int32")
    assert key("-1.5", "decimal(10,2)") < key("1.25", "decimal(10,2)")
    assert (
        key("0044-03-15 (BC)", "date")
        < key("0001-01-01", "date")
        < key("12020-01-01", "date")
        < key("infinity", "date")
    )
    assert key("nan", "float64") == math.inf
    assert key("true", "boolean") == key("1", "boolean") == 1
    assert key("2020-01-01", "timestamp") == key("2020-01-01 02:00:00+02", "timestamptz")
