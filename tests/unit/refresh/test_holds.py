"""Fuses learn what is usual; watermarks agree or not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from trickle.refresh.choose import Choice, Facts, choose
from trickle.refresh.holds import Holds, aligned, fuse_ceiling
from trickle.registry.models import Dependency, Refresh, StreamTable
from trickle.registry.reading import base_tables
from trickle.registry.scheduling import BLOWN, Fuse, Watermark, WatermarkGroup

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def table(id: int, name: str, *reads: str, **options: Any) -> StreamTable:
    read = tuple(Dependency(r, n, (), "") for n, r in enumerate(reads))
    return StreamTable(id, "main", name, "", "spark", "AUTO", options, name, 1, dependencies=read)


def history(*sizes: int) -> list[Refresh]:
    return [Refresh(1, "per", NOON, NOON, "DIFFERENTIAL", "", 1, 1, n, 5.0, 1, 1, "user") for n in sizes]


@pytest.mark.parametrize(
    ("options", "sizes", "ceiling"),
    [
        ({}, [10] * 9, None),
        ({"fuse": "off", "fuse_ceiling": 5.0}, [10] * 9, None),
        ({"fuse": "on", "fuse_ceiling": 5.0}, [10] * 9, 5.0),
        ({"fuse": "on"}, [10] * 4, None),
        ({"fuse": "on"}, [10] * 5, 25.0),
        ({"fuse": "auto", "fuse_sensitivity": 2.0}, [0, 100, 0, 100, 0, 100, 100, 100], 200.0),
        ({"fuse": "auto", "fuse_ceiling": 20.0}, [10] * 5, 20.0),
        ({"fuse": "auto"}, [10, 10, 10, 10, 1000], 208 + 3 * 396.0),
    ],
)
def test_the_ceiling_of_a_fuse(options: dict[str, Any], sizes: list[int], ceiling: float | None) -> None:
    assert fuse_ceiling(table(1, "per", **options), history(*sizes)) == ceiling


def test_a_change_above_the_ceiling_is_not_applied_but_a_requested_refresh_is() -> None:
    assert choose(Facts("DIFFERENTIAL", changed_rows=6, ceiling=5)) == Choice("SKIP", "fuse_blown")
    assert choose(Facts("DIFFERENTIAL", changed_rows=5, ceiling=5)) == Choice("DIFFERENTIAL")
    assert choose(Facts("DIFFERENTIAL", changed_rows=6, ceiling=5, full_requested=True)) == Choice("FULL", "requested")
    assert choose(Facts("AUTO", held="gated", full_requested=True)) == Choice("SKIP", "gated")


def test_watermarks_agree_within_the_tolerance() -> None:
    group = WatermarkGroup("day", ("a", "b"), 60.0, NOON)

    def marks(**seconds: float) -> dict[str, Watermark]:
        return {n: Watermark(n, NOON + timedelta(seconds=s), NOON, "") for n, s in seconds.items()}

    assert aligned(group, marks())
    assert not aligned(group, marks(a=0))
    assert aligned(group, marks(a=0, b=60))
    assert not aligned(group, marks(a=0, b=61))


def test_those_of_a_circle_stand_on_the_same_tables() -> None:
    circle = [table(1, "a", "main.x", "trickle.b"), table(2, "b", "main.y", "trickle.a"), table(3, "c", "trickle.b")]
    for order in (circle, circle[::-1]):
        assert set(base_tables(order).values()) == {frozenset({"main.x", "main.y"})}
    assert base_tables([table(4, "d")]) == {"trickle.d": frozenset()}


def test_what_holds_a_table() -> None:
    low = table(1, "low", "main.orders")
    top = table(2, "top", "trickle.low", "main.items")
    below = base_tables([low, top])
    assert below["trickle.top"] == {"main.orders", "main.items"}
    assert Holds(gated=frozenset({"main.orders"})).reason(low) == "gated"
    assert Holds(gated=frozenset({"main.orders"})).reason(top) == "", "held by where its source stands, not by the gate"
    group = WatermarkGroup("day", ("main.orders", "main.items"), 0.0, NOON)
    assert Holds(apart=(group,), base=below).reason(top) == "watermark"
    assert Holds(apart=(group,), base=below).reason(low) == ""
    assert Holds(fuses={1: Fuse(1, BLOWN, NOON, 9, 3.0)}).reason(low) == "fuse_blown"
