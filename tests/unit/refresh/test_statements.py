"""The SQL of a refresh, for changes of different sizes."""

from __future__ import annotations

from functools import partial

from pyspark.sql.types import LongType, StringType, StructField, StructType

from trickle.delta import differentiate
from trickle.refresh.frames import sql_name
from trickle.refresh.statements import Statement
from trickle.sql.lower import lower

SCHEMAS = {"orders": [("id", "INT"), ("cust", "INT")], "customers": [("id", "INT"), ("region", "STRING")]}


def statement() -> Statement:
    plan = differentiate(lower("SELECT o.id, c.region FROM orders o JOIN customers c ON o.cust = c.id", SCHEMAS).plan)
    return Statement.of(plan, partial(sql_name, "p"), plan.names)


def test_only_a_change_that_is_not_too_large_is_sent_to_every_task() -> None:
    made = statement()
    assert "BROADCAST" in made.text
    assert "BROADCAST" not in made.for_many


def test_each_text_is_the_same_for_every_refresh() -> None:
    one, other = statement(), statement()
    assert (one.text, one.for_many, one.for_few_rows) == (other.text, other.for_many, other.for_few_rows)
    assert one.text is one.text


def test_stored_types_and_a_limit_go_around_the_text_as_it_is() -> None:
    made = statement()
    found = StructType([StructField("id", LongType()), StructField("odd `name`", StringType())])
    typed = made.typed(found, {"id": "int", "odd `name`": "string"})
    assert (
        typed.selected("T", 11)
        == "SELECT CAST(`id` AS int) AS `id`, CAST(`odd ``name``` AS string) AS `odd ``name``` FROM (T) LIMIT 11"
    )
    assert typed.text == made.text


def test_rows_that_have_their_types_are_selected_as_they_are() -> None:
    typed = statement().typed(
        StructType([StructField("id", LongType()), StructField("__w", LongType())]), {"id": "bigint"}
    )
    assert typed.selected("T", None) == "T"
    assert typed.selected("T", 5) == "SELECT * FROM (T) LIMIT 5"
