"""Stream tables become units: diamonds and groups together, with the clocks that their schedules come down to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from trickle.registry.models import Dependency, StreamTable
from trickle.scheduler.layout import Layout
from trickle.scheduler.retry import after_error, stretched
from trickle.schedules import Every, Manual, OnChange

TIERS = ("warm", "cold", "frozen")


def table(id: int, name: str, *reads: str, **options: Any) -> StreamTable:
    read = tuple(Dependency(r, 100 + n, (), "") for n, r in enumerate(reads))
    return StreamTable(id, "main", name, "", "spark", "AUTO", options, name, 1, dependencies=read)


def layout(*tables: StreamTable, groups: list[list[str]] | None = None) -> list[tuple[int, ...]]:
    return [tuple(m.id for m in u.members) for u in Layout.of(tables, groups or [], Every(1)).units]


def diamond(**options: Any) -> list[StreamTable]:
    return [
        table(1, "b", "main.a"),
        table(2, "c", "main.a"),
        table(3, "d", "trickle.b", "trickle.c", **options),
        table(4, "e", "trickle.d"),
    ]


def test_a_diamond_is_one_unit_unless_its_last_table_says_otherwise() -> None:
    assert layout(*diamond()) == [(1, 2, 3), (4,)]
    apart = layout(*diamond(diamond_consistency="none"))
    assert sorted(apart) == [(1,), (2,), (3,), (4,)]
    assert apart.index((3,)) > max(apart.index((1,)), apart.index((2,)))


def test_the_policy_of_the_last_table_sets_the_pace() -> None:
    for policy, slowest in (("fastest", False), ("slowest", True)):
        units = Layout.of(diamond(diamond_schedule_policy=policy), [], Every(1)).units
        assert [u.slowest for u in units] == [slowest, False]


def test_a_refresh_group_is_one_unit_and_groups_that_share_a_member_are_too() -> None:
    tables = [table(n, name, f"main.{name}") for n, name in enumerate("pqrs", 1)]
    assert sorted(layout(*tables, groups=[["p", "q"]])) == [(1, 2), (3,), (4,)]
    assert sorted(len(u) for u in layout(*tables, groups=[["p", "q"], ["q", "s"], ["gone", "p"]])) == [1, 3]


def test_clocks_come_from_schedules_lags_and_tiers() -> None:
    tables = [
        table(1, "a", "main.t"),
        table(2, "b", "trickle.a", schedule="on_change"),
        table(3, "c", "main.t", target_lag="1m"),
        table(4, "d", "main.t", schedule="10s", tier="frozen"),
        table(5, "e", "main.t", schedule="10s", tier="cold"),
        table(6, "f", "main.t", schedule="on_change", tier="frozen"),
    ]
    found = {m.id: (m.clocks, u.pace) for u in Layout.of(tables, [], Every(1)).units for m in u.members}
    assert found == {
        1: ((OnChange(),), 1.0),
        2: ((OnChange(),), 1.0),
        3: ((Every(30),), 1.0),
        4: ((Manual(),), 1.0),
        5: ((Every(10),), 10.0),
        6: ((Manual(),), 1.0),
    }


def test_the_hottest_member_sets_the_pace_and_a_frozen_one_none() -> None:
    tables = [table(n, name, "main.t", tier=tier) for n, (name, tier) in enumerate(zip("abc", TIERS, strict=True))]
    for names, pace in ((["a", "b"], 2.0), (["b", "c"], 10.0)):
        units = Layout.of([t for t in tables if t.name in names], [names], Every(1)).units
        assert [u.pace for u in units] == [pace]


def test_the_least_limit_of_its_members_is_that_of_a_unit() -> None:
    tables = [table(1, "a", "main.t", worker_limit=3), table(2, "b", "main.t"), table(3, "c", "main.t", worker_limit=1)]
    units = Layout.of(tables, [["a", "b"]], Every(1)).units
    assert [u.limit for u in units] == [3, 1]


def test_a_tier_is_learned_from_when_a_table_was_last_read() -> None:
    tables = [table(n, f"s{n}", "main.t", schedule="10s", tier="auto") for n in range(4)]
    unread = {0: timedelta(minutes=59), 1: timedelta(hours=2), 2: timedelta(days=2)}
    units = Layout.of(tables, [], Every(1), unread).units
    assert {u.members[0].id: u.pace for u in units} == {0: 1.0, 1: 2.0, 2: 10.0, 3: 1.0}


def test_errors_that_pass_by_themselves_never_suspend() -> None:
    noon = datetime(2024, 5, 1, 12, tzinfo=UTC)
    waits = [(after_error("storage_error", n, noon, 1.0, 10.0, 3).at - noon).total_seconds() for n in (1, 2, 3, 4, 99)]
    assert waits == [1, 2, 4, 8, 10]
    assert not after_error("lake_error", 99, noon, 1.0, 10.0, 3).suspend
    assert [after_error("query_error", n, noon, 1.0, 10.0, 3).suspend for n in (2, 3)] == [False, True]


def test_who_cannot_keep_up_is_slowed_eightfold_at_most_and_forgiven_at_once() -> None:
    factors = [1]
    for _ in range(5):
        factors.append(stretched(factors[-1], 3.0, 1.0))
    assert factors == [1, 2, 4, 8, 8, 8]
    assert stretched(8, 0.5, 1.0) == 1
