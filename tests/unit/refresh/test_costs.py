"""AUTO over simulated histories: near the better way after a few refreshes, and it stays there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trickle.refresh import costs
from trickle.registry.models import Refresh
from trickle.testing.cost_histories import Costs, Simulation, switches

WARMUPS, CYCLES = 5, 35
NOW = datetime(2024, 2, 29, tzinfo=UTC)


def cells(noise: float) -> Iterator[tuple[Simulation, int]]:
    """Sizes of tables × shares that change × what a changed row costs, each a table of its own."""
    for rows in (10_000, 100_000, 1_000_000, 10_000_000):
        for share in (0.0001, 0.001, 0.01, 0.1, 0.5):
            for row in (0.0001, 0.0005, 0.002, 0.01, 0.05):
                for seed in range(3):
                    rng = Random(f"{rows} {share} {row} {seed}")
                    floor, full_floor = rng.uniform(10, 200), rng.uniform(50, 500)
                    full_row, planning = rng.uniform(0.0002, 0.005), rng.uniform(20, 200)
                    true = Costs(rows, floor, row, full_floor, full_row, planning=planning)
                    yield Simulation(true, rng, noise), max(1, round(rows * share * 4 / 3))


@pytest.mark.parametrize("noise", [0.0, 0.05, 0.1, 0.2])
def test_auto_is_near_the_better_way_in_nearly_all_cells(noise: float) -> None:
    near, total, changes = 0, 0, []
    for simulation, rows in cells(noise):
        sizes = [rows] * CYCLES
        choices = simulation.run(sizes)
        total += 1
        near += median(simulation.regret(choices, sizes)[WARMUPS : WARMUPS + 5]) <= 1.2
        changes.append(switches(choices[WARMUPS:]))
    assert near / total >= 0.95
    assert max(changes) <= 4 and sum(changes) / total <= 0.2, "it does not flap"


def test_small_and_large_changes_in_turns_are_told_apart() -> None:
    simulation = Simulation(Costs(1_000_000, row=0.01), Random(1))
    sizes = [100] * 9 + [600_000]
    choices = simulation.run(sizes * 8)
    assert {c.action for c, rows in zip(choices[40:], sizes * 4, strict=True) if rows == 100} == {"DIFFERENTIAL"}
    assert {c.action for c, rows in zip(choices[-30:], sizes * 3, strict=True) if rows > 100} == {"FULL"}


def test_refreshes_that_find_nothing_do_not_make_it_forget() -> None:
    simulation = Simulation(Costs(1_000_000, row=0.01), Random(1))
    first = simulation.run([600_000] * 10)
    simulation.lines += [Refresh(1, "t", NOW, NOW, "NO_DATA", "", 0, 0, 0, 1.0, 1, 1, "user") for _ in range(200)]
    assert {c.action for c in simulation.run([600_000] * 5)} == {first[-1].action} == {"FULL"}


def test_a_table_that_grew_is_learned_anew() -> None:
    simulation = Simulation(Costs(10_000, floor=300, full_floor=100), Random(1))
    assert simulation.run([10] * 12)[-1].action == "FULL"
    simulation.costs = Costs(10_000_000, floor=300, full_floor=100)
    later = simulation.run([10] * 12)
    assert {c.action for c in later[6:]} == {"DIFFERENTIAL"} and switches(later) <= 1


@pytest.mark.parametrize("dear", [2, 10, 40])
@pytest.mark.parametrize("full", [300, 5000])
def test_what_other_changes_made_dear_is_tried_again(dear: float, full: float) -> None:
    """Ten updates of a dimension, which fan out, then inserts of facts: of one row each."""
    for seed in range(3):
        simulation = Simulation(Costs(1_000_000, floor=100, full_floor=full, full_row=0), Random(seed))
        for _ in range(2):
            simulation.add("FULL", "requested", 1, full)
        for _ in range(10):
            simulation.refresh(1, times=dear * full / 100)
        assert simulation.lines[-1].action == "FULL"
        choices = [simulation.refresh(1) for _ in range(1000)]
        assert {c.action for c in choices[-50:]} == {"DIFFERENTIAL"}
        assert switches(choices) <= 5


@pytest.mark.parametrize("dear", [1.6, 5, 30])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.4])
def test_tries_become_rare_and_cost_little_where_full_stays_better(dear: float, share: float) -> None:
    """Some changes are cheap to follow, most are not: what is tried now and then costs a tenth at most."""
    rng = Random(f"{dear} {share}")
    simulation = Simulation(Costs(1_000_000, floor=100, full_floor=1000, full_row=0), rng, outliers=0.0)
    for _ in range(2):
        simulation.add("FULL", "requested", 1, 1000.0)
    choices = [simulation.refresh(1, times=5 if rng.random() < share else 10 * dear) for _ in range(1000)]
    spent = sum(h.duration_ms for h in simulation.lines[50:])
    assert spent <= 1.12 * 1000 * len(simulation.lines[50:])
    assert switches(choices[50:]) <= 20


lines = st.lists(
    st.builds(
        lambda ms, rows: Refresh(1, "t", NOW, NOW, "DIFFERENTIAL", "", 0, 0, rows, ms, 1, 1, "user"),
        st.floats(1, 1e6),
        st.integers(0, 10**7),
    ),
    min_size=1,
    max_size=20,
)


@settings(deadline=None)
@given(past=lines, rows=st.integers(0, 10**8))
def test_no_estimate_lies_below_the_fastest_yet(past: list[Refresh], rows: int) -> None:
    found = costs.differential(past, rows)
    assert found is None or found.ms >= min(h.duration_ms for h in past) - 1e-6


@settings(deadline=None)
@given(past=lines, rows=st.integers(0, 10**7), late=st.integers(0, 4))
def test_one_slow_refresh_of_five_changes_little(past: list[Refresh], rows: int, late: int) -> None:
    same = [replace(past[0], changed_rows=rows, duration_ms=100.0 + n) for n in range(5)]
    slow = [replace(h, duration_ms=1e6) if n == late else h for n, h in enumerate(same)]
    found = costs.differential(slow, rows)
    assert found is not None and found.ms <= 105 and found.is_sure


def test_a_line_is_drawn_through_changes_of_other_sizes() -> None:
    def line(rows: int, ms: float) -> Refresh:
        return Refresh(1, "t", NOW, NOW, "DIFFERENTIAL", "", 0, 0, rows, ms, 1, 1, "user")

    past = [line(1000 * n, 100.0 + 10 * n) for n in (1, 2, 10, 20)] + [line(15_000, 9000.0)]
    found = costs.differential(past, 1_000_000)
    assert found is not None and found.ms == pytest.approx(10_100, rel=0.05) and not found.is_sure
    assert costs.differential([line(10, 100.0)], 1_000_000) is None, "one size says nothing of larger ones"
    assert costs.differential([line(1_000_000, 100.0)], 10) is not None


def line(action: str, reason: str, rows: int, ms: float, minutes: int) -> Refresh:
    at = NOW + timedelta(minutes=minutes)
    return Refresh(1, "t", at, at, action, reason, 0, 0, rows, ms, 1, 1, "user")


def test_a_history_of_full_refreshes_alone_says_nothing_of_differential_ones_of_that_size() -> None:
    many = [line("FULL", "cost_model", 10**6, 900.0, -n) for n in range(30)]
    small = [line("DIFFERENTIAL", "", 10, 50.0, -100)]
    assert costs.differential([*many, *small], 10**6) is None


def test_what_was_given_up_is_judged_by_its_average_when_it_is_tried_again() -> None:
    """Two of five changes are dear: typical are the others."""
    again = [line("DIFFERENTIAL", "", 10, ms, -n) for n, ms in enumerate((5000.0, 40.0, 5000.0, 40.0, 40.0))]
    first = costs.differential(again, 10)
    after = costs.differential([*again, line("FULL", "cost_model", 10, 900.0, -9)], 10)
    assert first is not None and first.ms == 40.0
    assert after is not None and after.ms == pytest.approx((3 * 40 + 5000) / 4)


def test_a_full_refresh_is_worth_a_try_once_the_others_have_cost_much_more_than_the_first_load() -> None:
    """Whatever the load says: it may have been much slower than a full refresh is."""
    load = [line("FULL", "initial_load", 0, 900.0, -1000)]
    few, more = ([line("DIFFERENTIAL", "", 10, 200.0, -n) for n in range(many)] for many in (25, 29))
    assert not costs.full_is_due([*few, *load], 10, 450.0)
    assert costs.full_is_due([*more, *load], 10, 450.0)
    assert not costs.full_is_due(more, 10, 450.0), "of no load"


def test_a_first_load_is_worth_less_than_a_full_refresh() -> None:
    load = Refresh(1, "t", NOW, NOW, "FULL", "initial_load", 9, 0, 0, 7000.0, 1, 1, "user")
    later = NOW + timedelta(minutes=1)
    full = Refresh(1, "t", later, later, "FULL", "cost_trial", 0, 0, 10, 900.0, 1, 1, "user")
    cold, warm = costs.full([load], 10), costs.full([full, full, load], 10)
    assert cold is not None and (cold.at_best, cold.is_sure) == (1750.0, False)
    assert warm is not None and (warm.ms, warm.is_sure) == (900.0, True)


def learning(ms: float, new: float, minutes: int) -> Refresh:
    return replace(line("DIFFERENTIAL", "", 10, ms, minutes), learning_ms=new)


def test_what_learned_something_is_not_believed_and_may_be_quicker_by_that() -> None:
    first = [learning(900.0, 850.0, 1), learning(500.0, 400.0, 0)]
    found = costs.differential(first, 10)
    assert found is not None and (found.ms, found.at_best, found.is_sure) == (500.0, 50.0, False)
    found = costs.differential([learning(60.0, 0.0, 3), learning(55.0, 5.0, 2), *first], 10)
    assert found is not None and (found.ms, found.samples, found.is_sure) == (55.0, 2, True)


def test_a_process_that_begins_anew_does_not_forget_what_refreshes_take() -> None:
    past = [learning(50.0, 0.0, n) for n in (3, 2, 1)]
    found = costs.differential([learning(2000.0, 1900.0, 5), learning(700.0, 600.0, 4), *past], 10)
    assert found is not None and (found.ms, found.is_sure) == (50.0, True)


def test_what_learns_something_every_time_is_believed_in_the_end() -> None:
    past = [learning(500.0, 400.0, -n) for n in range(costs.SURE_ANYWAY)]
    few, many = costs.differential(past[1:], 10), costs.differential(past, 10)
    assert few is not None and not few.is_sure
    assert many is not None and (many.ms, many.at_best, many.is_sure) == (500.0, 500.0, True)
