"""A source is clustered by what most stream tables look it up by."""

from __future__ import annotations

from trickle.ops.clustering import Use, advise

ORDER = ["id", "cust", "part", "day"]


def test_the_column_that_most_stream_tables_look_up_by_comes_first() -> None:
    found = advise([Use("a", ("part",)), Use("b", ("cust",)), Use("c", ("cust",)), Use("c", ("part",))] * 2, ORDER)
    assert (found.columns, found.stream_tables) == (("cust",), ("b", "c"))
    assert found.reason == "stream tables that look it up: 2 by part, 2 by cust"


def test_columns_that_always_come_along_follow() -> None:
    assert advise([Use("a", ("day", "part")), Use("b", ("part", "day", "id"))], ORDER).columns == ("part", "day")


def test_a_column_that_is_looked_up_alone_comes_before_one_that_needs_another() -> None:
    assert advise([Use("a", ("cust", "part")), Use("b", ("part",)), Use("b", ("cust", "id"))], ORDER).columns == (
        "part",
    )
