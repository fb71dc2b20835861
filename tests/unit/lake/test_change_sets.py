"""Changes that the driver holds for the stream tables of a wave."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
from pyspark.sql.types import LongType, StructField, StructType

from trickle.lake.change_sets import ChangeSets
from trickle.lake.held import Held
from trickle.lake.model import WEIGHT, Column, Table

A, B, C = (Column(n, name, "int64") for n, name in enumerate("abc"))
WHOLE = Table(7, "", 0, "main", "t", "", (A, B, C))


def of(*columns: Column) -> Table:
    return replace(WHOLE, columns=columns)


def rows(table: Table) -> Held:
    names = [*(c.name for c in table.columns), WEIGHT]
    schema = StructType([StructField(n, LongType()) for n in names])
    return Held(pa.table({n: pa.array([ord(n[0])] * 4, pa.int64()) for n in names}), schema)


def test_a_change_is_read_once_for_all_who_want_no_more_columns_and_nobody_sees_those_of_others() -> None:
    kept, read = ChangeSets(1 << 20), []

    def ask(table: Table, start: int = 1) -> list[str]:
        def reading(wider: Table) -> Held:
            read.append("".join(c.name for c in wider.columns))
            return rows(wider)

        found = kept.get(table, start, 9, reading)
        assert isinstance(found, Held)
        assert found.schema is not None
        assert found.rows.column_names == found.schema.names
        return found.rows.column_names

    assert ask(of(A, B)) == ["a", "b", WEIGHT]
    assert ask(of(A, B)) == ["a", "b", WEIGHT]
    assert ask(of(A)) == ["a", WEIGHT]
    assert read == ["ab"]
    assert ask(of(C)) == ["c", WEIGHT]
    assert ask(of(B, C)) == ["b", "c", WEIGHT]
    assert read == ["ab", "cab"]
    assert ask(of(A), start=2) == ["a", WEIGHT]
    assert read == ["ab", "cab", "a"]


def test_a_range_that_is_passed_is_let_go_and_one_that_others_may_still_ask_for_is_not() -> None:
    kept = ChangeSets(1 << 20)
    first, longer = (kept.get(of(A), start, 9, rows) for start in (5, 1))
    kept.get(of(A), 7, 12, rows)
    assert kept.get(of(A), 5, 9, rows) is first
    assert kept.get(of(A), 1, 9, rows) is longer
    kept.get(replace(of(A), id=8), 9, 12, rows)
    assert kept.get(of(A), 5, 9, rows) is first
    kept.get(of(A), 9, 12, rows)
    assert kept.get(of(A), 5, 9, rows) is not first


def test_a_column_of_another_type_is_read_anew() -> None:
    kept = ChangeSets(1 << 20)
    first = kept.get(of(A), 1, 9, rows)
    other = kept.get(of(replace(A, type="int32")), 1, 9, rows)
    assert other is not first


def test_what_spark_reads_is_not_kept() -> None:
    kept = ChangeSets(1 << 20)
    asked: list[Table] = []

    def by_spark(table: Table) -> str:
        asked.append(table)
        return "frame"

    kept.get(of(A), 1, 9, rows)
    assert kept.get(of(B), 1, 9, by_spark) == "frame"  # type: ignore[arg-type, comparison-overlap]
    assert asked == [of(B, A), of(B)]
