"""The SQL of a refresh, for changes of different sizes."""

from __future__ import annotations

from functools import partial

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
