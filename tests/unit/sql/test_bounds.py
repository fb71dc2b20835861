"""Bounds never narrow: every row that satisfies a predicate satisfies each of its bounds."""

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trickle.lake.model import Bound
from trickle.sql.bounds import bounds

COLUMNS = {
    "a": "int64",
    "b": "varchar",
    "d": "date",
    "ts": "timestamp",
    "tz": "timestamptz",
    "p": "decimal(10,2)",
    "f": "float32",
    "g": "float64",
    "Yes": "boolean",
    "raw": "blob",
    "u": "uuid",
}


def only(where: str, **kwargs: tuple[str, ...]) -> Bound:
    (bound,) = bounds(where, COLUMNS, **kwargs)
    return bound


@pytest.mark.parametrize(
    ("where", "bound"),
    [
        ("a = 1", Bound("a", values=(1,))),
        ("1 = a", Bound("a", values=(1,))),
        ("a == (-1)", Bound("a", values=(-1,))),
        ("A <=> 1", Bound("a", values=(1,))),
        ("b LIKE 'for_t%'", Bound("b", low="for", high="fos")),
        ("b LIKE 'plain' AND b LIKE 'pl%'", Bound("b", low="plain", high="plaio")),
        ("a < 5", Bound("a", high=5)),
        ("5 < a", Bound("a", low=5)),
        ("a >= -5L", Bound("a", low=-5)),
        ("a BETWEEN 1 AND 5", Bound("a", low=1, high=5)),
        ("a BETWEEN 1 AND x", Bound("a", low=1)),
        ("a > 1 AND a > 3 AND a <= 9 AND a < 7", Bound("a", low=3, high=7)),
        ("a IN (3, 1, 3, NULL)", Bound("a", values=(3, 1))),
        ("a = 1 OR a = 2 OR (a IN (3))", Bound("a", values=(1, 2, 3))),
        ("a = 1 OR a BETWEEN 5 AND 9", Bound("a", low=1, high=9)),
        ("a = 1 OR a IS NULL", Bound("a", values=(1,), or_null=True)),
        ("a IS NULL OR a > 3", Bound("a", low=3, or_null=True)),
        ("a IS NULL", Bound("a", values=(), or_null=True)),
        ("a <=> NULL", Bound("a", values=(), or_null=True)),
        ("a = 5.5", Bound("a", low=5, high=6)),
        ("a = '12'", Bound("a", values=(12,))),
        ("a = CAST('3' AS INT)", Bound("a", values=(3,))),
        ("a > 1e3", Bound("a", low=1000)),
        ("b = 'it''s'", Bound("b", values=("it's",))),
        ('b >= "x"', Bound("b", low="x")),
        ("p IN (1, 2.25)", Bound("p", values=(Decimal(1), Decimal("2.25")))),
        ("p <= -1.5BD", Bound("p", high=Decimal("-1.5"))),
        ("d = DATE '2024-02-29'", Bound("d", values=(date(2024, 2, 29),))),
        ("d >= '2024-01-01'", Bound("d", low=date(2024, 1, 1))),
        ("d < TIMESTAMP '2024-01-01 12:00:00'", Bound("d", high=date(2024, 1, 1))),
        ("d = CAST('2024-01-01' AS DATE)", Bound("d", values=(date(2024, 1, 1),))),
        ("ts = DATE '2024-01-01'", Bound("ts", values=(datetime(2024, 1, 1),))),
        ("ts > '2024-01-01T10:00:00.5+02:00'", Bound("ts", low=datetime(2024, 1, 1, 8, 0, 0, 500000))),
        ("tz <= TIMESTAMP '2024-01-01 10:00:00'", Bound("tz", high=datetime(2024, 1, 1, 10, tzinfo=UTC))),
        ("g < 1.5", Bound("g", high=1.5)),
        ("yes = true", Bound("Yes", values=(True,))),
        ("raw = X'1F'", Bound("raw", values=(b"\x1f",))),
        ("a = 1 AND EXISTS (SELECT 1 FROM x WHERE a = 2)", Bound("a", values=(1,))),
        ("a = 1 AND b LIKE '%x' AND length(b) = 3", Bound("a", values=(1,))),
    ],
)
def test_a_conjunct_on_one_column_is_a_bound(where: str, bound: Bound) -> None:
    assert only(where) == bound


@pytest.mark.parametrize(
    "where",
    [
        "a = 1 OR b = 'x'",
        "NOT a = 1",
        "! a = 1",
        "a <> 1",
        "a NOT IN (1, 2)",
        "a NOT BETWEEN 1 AND 2",
        "a IS NOT NULL",
        "a = NULL",
        "a IN (NULL)",
        "a + 1 = 2",
        "abs(a) = 1",
        "CAST(a AS INT) = 1",
        "a = x",
        "a = rand()",
        "a = (SELECT 1)",
        "a IN (SELECT 1)",
        "a IN (1, x)",
        "a < 3 OR a > 10",
        "(a = 1) = true",
        "(a = 1) IS NOT NULL",
        "x.a = 1",
        "nope = 1",
        "b = 5",
        "b IN ('5', 1)",
        "a = 'x'",
        "a = '1.5'",
        "a = true",
        "a IN (1, 1e0)",
        "a = 9007199254740992D",
        "a = 1.00000000000000000001",
        "a = CAST(1.5 AS INT)",
        "a = CAST(300 AS TINYINT)",
        "p = 1.5D",
        "p = '1.5'",
        "p = 1.00000000000000000000000000000000001",
        "p = CAST(1.55 AS DECIMAL(3,1))",
        "d = '2024-1-1'",
        "d = '2024-02-30'",
        "d = '2024-01-01 10:00:00'",
        "ts = 'yesterday'",
        "ts = '2024-01-01 10:00:00.1234567'",
        "g = 'nan'",
        "u = 'x'",
        "b = 'a\\nb'",
        "b = 'x' COLLATE UTF8_LCASE",
        "b = lower('X')",
        "b LIKE '%x'",
        "b NOT LIKE 'x%'",
        "b ILIKE 'x%'",
        "b LIKE 'x#%' ESCAPE '#'",
        "b LIKE ANY ('x%')",
        "a LIKE '1%'",
        "u LIKE '1%'",
        "a =",
        "window(ts, '1 day').start = 1",
        "true",
    ],
)
def test_anything_else_says_nothing(where: str) -> None:
    assert bounds(where, COLUMNS) == ()


def test_a_disjunction_keeps_what_all_its_branches_say() -> None:
    found = bounds("(a = 1 AND b = 'x' AND g > 1) OR (b = 'y' AND a > 5)", COLUMNS)
    assert set(found) == {Bound("a", low=1), Bound("b", values=("x", "y"))}


def test_a_thirty_two_bit_column_is_bounded_with_slack() -> None:
    """0.1 as a 32-bit value is 0.10000000149, which its text in the statistics, 0.1, does not say."""
    bound = only("f = 0.1")
    assert isinstance(bound.low, float) and isinstance(bound.high, float)
    assert bound.low < 0.1 < 0.10000000149011612 < bound.high


def test_only_the_tables_own_qualifiers_are_trusted() -> None:
    names = ("o", "main.orders")
    assert only("o.a = 1 AND x.a = 2", qualifiers=names) == Bound("a", values=(1,))
    assert only("MAIN.Orders.a = 1", qualifiers=names) == Bound("a", values=(1,))
    assert bounds("b.a = 1", COLUMNS, ("b",)) == (), "b is a column too: b.a may be a field of it"


def test_without_types_values_come_as_written() -> None:
    assert bounds("a = '5' AND b > 1.5", ["a", "b"]) == (Bound("a", values=("5",)), Bound("b", low=Decimal("1.5")))
    assert bounds("a > 1 OR a > 'x'", ["a"]) == ()


def test_long_lists_are_no_burden() -> None:
    chain = " OR ".join(f"a = {i}" for i in range(3000))
    assert only(chain) == Bound("a", values=tuple(range(3000)))


Row = dict[str, object]
Truth = bool | None


@dataclass(frozen=True)
class Predicate:
    """The text of a predicate and what it says of a row: true, false or unknown."""

    text: str
    holds: Callable[[Row], Truth]


OPERATORS = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "<>": operator.ne,
}
SWAPPED = {"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
VALUES: dict[str, st.SearchStrategy[object]] = {
    "a": st.integers(-4, 4),
    "b": st.sampled_from(["", "x", "it's", "y", "é"]),
    "p": st.decimals("-2", "2", places=2),
    "d": st.dates(date(2024, 1, 1), date(2024, 1, 5)),
    "g": st.sampled_from([-1.5, 0.0, 0.1, 2.0, math.nan]),
}


def literal(value: object) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return f"DATE '{value}'" if isinstance(value, date) else f"{value}D" if isinstance(value, float) else str(value)


def key(value: object) -> tuple[bool, object]:
    """Spark's order: NaN equals itself and comes last."""
    return (True, 0) if isinstance(value, float) and math.isnan(value) else (False, value)


@st.composite
def comparisons(draw: st.DrawFn, names: tuple[str, ...]) -> Predicate:
    column = draw(st.sampled_from(names))
    numbers = VALUES[column].filter(lambda v: v == v)
    value: object = draw(st.one_of(numbers, st.decimals("-4", "4", places=1)) if column == "a" else numbers)
    sign = draw(st.sampled_from(sorted(OPERATORS)))
    text = draw(st.sampled_from([f"{column} {sign} {literal(value)}", f"{literal(value)} {SWAPPED[sign]} {column}"]))
    return Predicate(text, lambda row: None if row[column] is None else OPERATORS[sign](key(row[column]), key(value)))


@st.composite
def lists(draw: st.DrawFn, names: tuple[str, ...]) -> Predicate:
    column = draw(st.sampled_from(names))
    items = draw(st.lists(VALUES[column].filter(lambda v: v == v), min_size=1, max_size=4))
    null = draw(st.booleans())
    text = f"{column} IN ({', '.join([*map(literal, items), *(['NULL'] if null else [])])})"
    return Predicate(
        text, lambda row: None if row[column] is None else row[column] in items or (None if null else False)
    )


@st.composite
def ranges(draw: st.DrawFn, names: tuple[str, ...]) -> Predicate:
    column = draw(st.sampled_from(names))
    low, high = (draw(VALUES[column].filter(lambda v: v == v)) for _ in range(2))
    negated = draw(st.booleans())

    def holds(row: Row) -> Truth:
        return None if row[column] is None else (key(low) <= key(row[column]) <= key(high)) != negated

    return Predicate(f"{column} {'NOT ' * negated}BETWEEN {literal(low)} AND {literal(high)}", holds)


@st.composite
def patterns(draw: st.DrawFn, names: tuple[str, ...]) -> Predicate:
    """For texts alone; a pattern of a text that is there, with a part of it left open."""
    start = draw(st.sampled_from(["", "x", "it", "i", "é"]))
    rest, matching = draw(st.sampled_from([("%", ".*"), ("_%", "..*"), ("", ""), ("_", ".")]))
    negated = draw(st.booleans())

    def holds(row: Row) -> Truth:
        found = row["b"]
        return None if found is None else (re.fullmatch(re.escape(start) + matching, str(found)) is None) == negated

    return Predicate(f"b {'NOT ' * negated}LIKE '{start}{rest}'", holds)


@st.composite
def nulls(draw: st.DrawFn, names: tuple[str, ...]) -> Predicate:
    column = draw(st.sampled_from(names))
    text, wanted = draw(st.sampled_from([("IS NULL", True), ("IS NOT NULL", False), ("<=> NULL", True)]))
    return Predicate(f"{column} {text}", lambda row: (row[column] is None) == wanted)


def negation(inner: Predicate) -> Predicate:
    def holds(row: Row) -> Truth:
        truth = inner.holds(row)
        return None if truth is None else not truth

    return Predicate(f"NOT ({inner.text})", holds)


def conjunction(left: Predicate, right: Predicate) -> Predicate:
    def holds(row: Row) -> Truth:
        truths = (left.holds(row), right.holds(row))
        return False if False in truths else None if None in truths else True

    return Predicate(f"({left.text}) AND ({right.text})", holds)


def disjunction(left: Predicate, right: Predicate) -> Predicate:
    def holds(row: Row) -> Truth:
        truths = (left.holds(row), right.holds(row))
        return True if True in truths else None if None in truths else False

    return Predicate(f"({left.text}) OR ({right.text})", holds)


def predicates(names: tuple[str, ...]) -> st.SearchStrategy[Predicate]:
    leaves = st.one_of(comparisons(names), ranges(names), lists(names), nulls(names))
    leaves = leaves | patterns(names) if "b" in names else leaves
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            inner.map(negation),
            st.builds(conjunction, inner, inner),
            st.builds(disjunction, inner, inner),
        ),
        max_leaves=6,
    )


def rows() -> st.SearchStrategy[Row]:
    return st.fixed_dictionaries({name: st.one_of(st.none(), values) for name, values in VALUES.items()})


def satisfies(row: Row, bound: Bound) -> bool:
    value = row[bound.column]
    if value is None:
        return bound.or_null
    if bound.values is not None:
        return value in bound.values
    return (bound.low is None or key(bound.low) <= key(value)) and (bound.high is None or key(value) <= key(bound.high))


def over_one_or_all_columns() -> st.SearchStrategy[Predicate]:
    """Predicates on one column meet in their bounds; those on many are kept apart."""
    every = tuple(sorted(VALUES))
    return st.sampled_from([every, *((name,) for name in every)]).flatmap(predicates)


@settings(max_examples=250, deadline=None)
@given(predicate=over_one_or_all_columns(), table=st.lists(rows(), min_size=5, max_size=25))
def test_every_row_that_satisfies_a_predicate_satisfies_its_bounds(predicate: Predicate, table: list[Row]) -> None:
    found = bounds(predicate.text, COLUMNS)
    for row in table:
        if predicate.holds(row):
            assert all(satisfies(row, bound) for bound in found), (predicate.text, row, found)


def test_the_check_itself_notices_a_bound_that_is_too_narrow() -> None:
    row: Row = {"a": 3}
    assert not satisfies(row, Bound("a", high=2))
    assert not satisfies({"a": None}, Bound("a", low=0))
    assert satisfies({"a": math.nan}, Bound("a", low=5.0))
    assert satisfies({"a": date(2024, 1, 1) + timedelta(1)}, Bound("a", low=date(2024, 1, 1)))
