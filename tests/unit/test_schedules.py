"""Schedules are read strictly and say their times exactly, through changes of the clock too."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from trickle.errors import ConfigError
from trickle.schedules import (
    Calculated,
    Clock,
    Cron,
    Every,
    Manual,
    OnChange,
    Schedule,
    next_due,
    read_duration,
    read_schedule,
    resolve,
)

NOON = datetime(2024, 3, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "schedule"),
    [
        ("30s", Every(30)),
        ("1h30m", Every(5400)),
        ("1h 30m", Every(5400)),
        ("250ms", Every(0.25)),
        (5, Every(5)),
        ("*/5 * * * *", Cron("*/5 * * * *")),
        ("0 6 * * MON", Cron("0 6 * * MON")),
        ("0 6 * * 1-5 Europe/Berlin", Cron("0 6 * * 1-5", "Europe/Berlin")),
        ("0 6 * * * UTC", Cron("0 6 * * *")),
        ("@hourly", Cron("@hourly")),
        ("calculated", Calculated()),
        ("ON_CHANGE", OnChange()),
        ("on_change 2s", OnChange(2)),
        ("manual", Manual()),
    ],
)
def test_every_form_is_read(text: str | int, schedule: Schedule) -> None:
    assert read_schedule(text) == schedule


@pytest.mark.parametrize("text", ["", "often", "-5s", "5 parsecs", "* * *", "61 * * * *", "* * * * * * *", "5", "True"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"not a schedule|not a time zone"):
        read_schedule(text)


def test_an_unknown_time_zone_is_named() -> None:
    with pytest.raises(ConfigError, match="'Mars/Olympus' is not a time zone"):
        read_schedule("0 6 * * * Mars/Olympus")


def test_a_duration_below_the_least_is_refused() -> None:
    with pytest.raises(ConfigError, match="too short"):
        read_duration("10ms", least=0.05)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("0s", "too short"),
        (0, "too short"),
        (float("nan"), "too short"),
        ("on_change 0s", "too short"),
        ("99999999999w", "too long"),
        (float("inf"), "too long"),
        (10**30, "too long"),
        ("0 0 30 2 *", "names no time"),
        ("0 0 31 4 * Europe/Berlin", "names no time"),
    ],
)
def test_a_time_that_cannot_come_is_refused_and_said_to_be_one(text: str | float, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        read_schedule(text)


def test_cron_keeps_to_the_wall_clock_when_summer_time_begins() -> None:
    every_morning = read_schedule("0 6 * * * Europe/Berlin")
    assert isinstance(every_morning, Cron)
    before, after = every_morning.due(NOON - timedelta(days=1)), every_morning.due(NOON)
    assert before == datetime(2024, 3, 30, 5, tzinfo=UTC)
    assert after == datetime(2024, 3, 31, 4, tzinfo=UTC)


def test_on_change_waits_for_the_debounce_after_a_change() -> None:
    assert OnChange(2).due(NOON) is None
    assert OnChange(2).due(NOON, NOON) == NOON + timedelta(seconds=2)


def test_calculated_is_as_often_as_the_most_eager_consumer() -> None:
    schedules: dict[str, Schedule] = {
        "a": Calculated(),
        "b": Every(60),
        "c": Calculated(),
        "d": Every(5),
        "e": OnChange(),
        "f": Calculated(),
        "g": Manual(),
    }
    readers = {"a": ["b", "c"], "c": ["d", "e"], "f": ["g"]}
    found = resolve(schedules, readers, Every(1))
    assert found["c"] == (Every(5), OnChange())
    assert found["a"] == (Every(5), OnChange())
    assert found["f"] == (Every(1),), "a consumer that is never due by itself asks for nothing"


def test_calculated_goes_far_up_and_round_a_circle() -> None:
    far: dict[str, Schedule] = {f"s{n}": Calculated() for n in range(5000)}
    readers = {f"s{n}": [f"s{n + 1}"] for n in range(4999)}
    assert set(resolve(far, readers, Every(7)).values()) == {(Every(7),)}
    circle: dict[str, Schedule] = {"a": Calculated(), "b": Calculated(), "c": Every(3)}
    round_it = {"a": ["b"], "b": ["a", "c"]}
    assert set(resolve(circle, round_it, Every(1)).values()) == {(Every(3),)}
    assert set(resolve({"a": Calculated(), "b": Calculated()}, round_it, Every(1)).values()) == {(Every(1),)}


def test_the_first_clock_to_strike_counts() -> None:
    clocks: tuple[Clock, ...] = (Every(60), OnChange(1))
    assert next_due(clocks, NOON) == NOON + timedelta(seconds=60)
    assert next_due(clocks, NOON, NOON) == NOON + timedelta(seconds=1)
    assert next_due([Manual()], NOON) is None
