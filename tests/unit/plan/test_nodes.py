"""Plans are values that check themselves."""

from __future__ import annotations

import pytest

from trickle.plan import (
    TRUE,
    Column,
    Field,
    Filter,
    Join,
    Project,
    Scan,
    UnionAll,
    Version,
    after,
    before,
    changes,
    col,
    follows_change,
    keep,
    share,
    shared_nodes,
    tables,
)


def scan(table: str, *names: str) -> Scan:
    return Scan(table, tuple(Field(Column(n, "INT"), n) for n in names))


def test_a_join_of_equal_names_is_refused() -> None:
    with pytest.raises(ValueError, match="both sides"):
        Join((scan("t", "a"), scan("u", "a")), TRUE)


def test_a_filter_reads_only_its_input() -> None:
    with pytest.raises(ValueError, match=r"reads \['b'\]"):
        Filter(scan("t", "a"), col("b"))


def test_a_union_needs_equal_names_in_any_order() -> None:
    assert UnionAll((scan("t", "a", "b"), scan("u", "b", "a"))).names == ("a", "b")
    with pytest.raises(ValueError, match="UnionAll"):
        UnionAll((scan("t", "a"), scan("u", "b")))


def test_before_and_after_move_every_scan() -> None:
    plan = Join((scan("t", "a"), Filter(scan("u", "b"), col("b"))), TRUE)
    assert after(before(plan)) == plan
    assert {n.version for n in before(plan).inputs if isinstance(n, Scan)} == {Version.BEFORE}
    assert tables(plan) == {"t", "u"}


def test_changes_carry_a_weight() -> None:
    assert changes(scan("t", "a")).names == ("a", "__w")


def test_equal_parts_are_found_once_shared() -> None:
    part = Filter(scan("t", "a"), col("a"))
    copy = Filter(scan("t", "a"), col("a"))
    plan = share(UnionAll((part, Project(copy, keep(copy.columns)))))
    assert shared_nodes(plan) == (part,)


def test_what_joins_a_change_is_as_small_as_the_change() -> None:
    change = changes(scan("t", "a"))
    assert follows_change(Join((change, scan("u", "b")), TRUE))
    assert not follows_change(UnionAll((scan("t", "a"), scan("t", "a"))))
