"""Decisions: who is due, in which order, to which snapshot; and what can never happen, on random graphs and clocks."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trickle.scheduler.decide import decide, due_at
from trickle.scheduler.state import NO_LIMIT, Course, Member, Plan, Read, Standing, Start, State, Unit
from trickle.schedules import Clock, Cron, Every, Manual, OnChange

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
ORDERS, ITEMS = 1, 2


def later(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def member(id: int, *tables: int, streams: Sequence[int] = (), clocks: Sequence[Clock] = (Every(1),)) -> Member:
    reads = (*(Read(t, False) for t in tables), *(Read(100 + s, True) for s in streams))
    return Member(id, reads, tuple(clocks))


def alone(id: int, *tables: int, clocks: Sequence[Clock] = (Every(1),), sources: Sequence[int] = ()) -> Unit:
    """A unit of one; its stored table is 100 + its id, and units stand at the place of their id."""
    return Unit((member(id, *tables, streams=sources, clocks=clocks),), tuple(sources))


def state(units: Sequence[Unit], head: int = 10, frontier: int = 5, free: int = 9, **changed: int) -> State:
    standings = {m.id: Standing(frontier, frontier) for unit in units for m in unit.members}
    tables = {"orders": ORDERS, "items": ITEMS}
    return State(
        head,
        units,
        [Course(NOON - timedelta(seconds=60))] * len(units),
        standings,
        {tables[name]: at for name, at in changed.items()},
        free,
    )


def started(plan: Plan) -> list[tuple[int, int]]:
    return [(s.unit, s.target) for s in plan.starts]


def test_only_what_changed_is_started_and_to_the_head() -> None:
    plan = decide(state([alone(0, ORDERS), alone(1, ITEMS)], orders=7), NOON)
    assert (started(plan), plan.behind, plan.idle) == ([(0, 10)], {0}, {1})


def test_a_reader_waits_for_its_source_and_then_follows_to_the_same_snapshot() -> None:
    chain = state([alone(0, ORDERS), alone(1, ITEMS, sources=[0])], orders=7, items=8)
    assert started(decide(chain, NOON)) == [(0, 10)]
    running = replace(chain, courses=[replace(chain.courses[0], running=True), chain.courses[1]])
    assert started(decide(running, NOON)) == []
    done = replace(chain, standings={0: Standing(10, 10), 1: Standing(5, 5)}, head=12, changed={ITEMS: 8, 100: 11})
    assert started(decide(done, NOON)) == [(1, 12)], "an idle source is as fresh as the head"
    moved = replace(done, changed={ITEMS: 8, 100: 11, ORDERS: 12}, courses=[Course(NOON), chain.courses[1]])
    assert started(decide(moved, NOON)) == [(1, 10)], (
        "what the source does not show yet, its reader must not show either"
    )


def test_a_source_that_is_always_due_is_waited_for_only_once() -> None:
    eager = alone(0, ORDERS, clocks=[OnChange()])
    found = state([eager, alone(1, sources=[0])], orders=10)
    found = replace(found, standings={0: Standing(9, 9), 1: Standing(5, 5)}, changed={ORDERS: 10, 100: 9})
    begun = [Course(NOON), Course(later(-60))]
    assert started(decide(replace(found, courses=begun), NOON)) == [(1, 9), (0, 10)]


def test_a_source_that_is_held_holds_its_readers_where_it_stands() -> None:
    found = state([alone(0, ORDERS), alone(1, ITEMS, sources=[0])], orders=7, items=8)
    gated = replace(found, courses=[replace(found.courses[0], block="gated"), found.courses[1]])
    plan = decide(gated, NOON)
    assert ([(s.unit, s.reason) for s in plan.skips], plan.starts) == ([(0, "gated")], ())
    assert (plan.behind, plan.coming) == ({0, 1}, frozenset())


def test_what_runs_or_will_be_due_is_coming_and_what_is_held_or_manual_is_not() -> None:
    units = [alone(n, ORDERS, clocks=[Manual() if n == 3 else Every(100)]) for n in range(5)]
    free = Course(NOON)
    courses = [replace(free, running=True), free, replace(free, block="gated"), free, replace(free, retry_at=later(9))]
    plan = decide(replace(state(units, orders=7), courses=courses), later(1))
    assert (plan.behind, plan.coming) == (set(range(5)), {0, 1, 4})


def test_members_of_a_unit_start_together_by_the_fastest_or_the_slowest() -> None:
    both = (member(0, ORDERS, clocks=[Every(10)]), member(1, ORDERS, clocks=[Every(100)]))
    for slowest, seconds in ((False, 10), (True, 100)):
        found = state([Unit(both, slowest=slowest)], orders=7)
        found = replace(found, courses=[Course(NOON)])
        assert decide(found, later(seconds - 1)).wake == later(seconds)
        assert started(decide(found, later(seconds))) == [(0, 10)]


def test_a_table_that_nobody_schedules_waits_to_be_told() -> None:
    plan = decide(state([alone(0, ORDERS, clocks=[Manual()])], orders=7), later(10_000))
    assert (plan.starts, plan.wake, plan.behind) == ((), None, {0})


def test_a_cron_time_that_passes_without_a_change_is_spent() -> None:
    hourly = alone(0, ORDERS, clocks=[Cron("0 * * * *")])
    quiet = replace(state([hourly]), courses=[Course(later(60))])
    assert decide(quiet, later(3599)).struck == frozenset()
    assert decide(quiet, later(3599)).wake == later(3600), "or a change that comes later would be taken for due"
    assert decide(quiet, later(3600)).struck == {0}
    after = replace(state([hourly], orders=7), courses=[Course(later(3601))])
    assert decide(after, later(3602)).wake == later(7200)


def test_tiers_stretch_intervals_and_debounces_back_off_intervals_and_neither_a_cron_time() -> None:
    course = Course(NOON, since=later(5), factor=2)

    def due(clock: Clock, pace: float) -> datetime | None:
        return due_at(replace(alone(0, ORDERS, clocks=[clock]), pace=pace), course, NOON)

    assert [due(Every(10), pace) for pace in (1, 2, 10)] == [later(20), later(40), later(200)]
    assert [due(OnChange(), pace) for pace in (1, 2, 10)] == [later(5), later(7), later(15)]
    assert [due(OnChange(3), pace) for pace in (1, 2, 10)] == [later(8), later(11), later(35)]
    assert [due(Cron("0 13 * * *"), pace) for pace in (1, 2, 10)] == [later(3600)] * 3


def test_an_interval_ends_with_the_refresh_that_is_begun_half_of_it_early_at_most() -> None:
    unit = alone(0, ORDERS, clocks=[Every(100)])
    assert [due_at(unit, Course(NOON, takes=s), NOON) for s in (0, 7, 90)] == [later(100), later(93), later(50)]
    assert due_at(unit, Course(NOON, takes=30, factor=2), NOON) == later(170)


def test_who_may_run_beside_few_is_waited_for_and_lets_few_run_beside_it() -> None:
    units = [replace(alone(n, ORDERS), limit=limit) for n, limit in enumerate((9, 2, 9, 9))]
    found = state(units, orders=7)
    began = [Course(later(-60 - n)) for n in (3, 2, 1, 0)]
    assert [s.unit for s in decide(replace(found, courses=began), NOON).starts] == [0, 1]
    busy = [replace(began[0], running=True, here=True), *began[1:]]
    assert [s.unit for s in decide(replace(found, courses=busy), NOON).starts] == [1]
    full = [replace(c, running=True, here=True) if n in (0, 2) else c for n, c in enumerate(began)]
    assert decide(replace(found, courses=full), NOON).starts == (), "3 does not overtake 1"
    elsewhere = [replace(c, here=False) for c in full]
    assert [s.unit for s in decide(replace(found, courses=elsewhere), NOON).starts] == [1, 3]


def test_a_failed_one_waits_for_its_retry() -> None:
    found = state([alone(0, ORDERS)], orders=7)
    failed = replace(found, courses=[replace(found.courses[0], retry_at=later(8))])
    assert decide(failed, NOON).wake == later(8)
    assert started(decide(failed, later(8))) == [(0, 10)]


def test_an_unfilled_source_keeps_its_readers_from_starting() -> None:
    found = state([alone(0, ORDERS), alone(1, sources=[0])])
    unfilled = replace(found, standings={0: Standing(None), 1: Standing(None)})
    assert started(decide(unfilled, NOON)) == [(0, 10)]


def test_with_few_workers_the_longest_due_goes_first() -> None:
    found = state([alone(0, ORDERS), alone(1, ORDERS), alone(2, ORDERS)], orders=7, free=2)
    found = replace(found, courses=[Course(later(-5)), Course(later(-9)), Course(later(-7))])
    assert started(decide(found, NOON)) == [(1, 10), (2, 10)]


@dataclass
class World:
    """A scheduler's world by the second: tables change, units run for a while, the plan is carried out."""

    units: list[Unit]
    workers: int
    rng: Random
    head: int = 1
    second: int = 0
    changed: dict[int, int] = field(default_factory=dict)
    running: dict[int, tuple[int, Start]] = field(default_factory=dict)
    standings: dict[int, Standing] = field(default_factory=dict)
    courses: list[Course] = field(default_factory=list)
    waited: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.standings = {m.id: Standing(1, 1) for unit in self.units for m in unit.members}
        self.courses = [Course(NOON) for _ in self.units]

    @property
    def now(self) -> datetime:
        return later(self.second)

    def state(self) -> State:
        return State(
            self.head, self.units, self.courses, self.standings, self.changed, self.workers - len(self.running)
        )

    def commit(self, tables: Sequence[int]) -> None:
        self.head += 1
        self.changed.update(dict.fromkeys(tables, self.head))

    def step(self) -> Plan:
        self.second += 1
        self.finish()
        before = self.state()
        plan = decide(before, self.now)
        self.check(before, plan)
        for place in plan.behind:
            self.courses[place] = replace(self.courses[place], since=self.courses[place].since or self.now)
        for start in plan.starts:
            self.courses[start.unit] = Course(self.now, running=True, here=True)
            self.running[start.unit] = (self.second + self.rng.randint(1, 4), start)
        return plan

    def finish(self) -> None:
        for place, (until, start) in list(self.running.items()):
            if until <= self.second:
                del self.running[place]
                self.courses[place] = replace(self.courses[place], running=False, here=False)
                self.commit([100 + m.id for m in self.units[place].members])
                for m in self.units[place].members:
                    self.standings[m.id] = Standing(start.target, self.head)

    def check(self, before: State, plan: Plan) -> None:
        places = [start.unit for start in plan.starts]
        assert len(places) == len(set(places)) <= before.free
        busy = [*self.running, *places]
        assert not places or len(busy) <= min(self.units[place].limit for place in busy), "never beside too many"
        for start in plan.starts:
            assert start.unit not in self.running, "never two at once"
            assert start.due <= self.now
            for source in self.units[start.unit].sources:
                begun_before = before.courses[source].started < start.due
                assert not (source in self.running and begun_before), "never before its sources"
                assert not (source in places and begun_before), "never beside its sources"
                held = min(self.standings[m.id].frontier or 0 for m in self.units[source].members)
                assert source in plan.idle or held >= start.target, "never ahead of its sources"


CLOCKS: tuple[Clock, ...] = (Every(1), Every(3), Every(7), OnChange(), OnChange(2))


@st.composite
def worlds(draw: st.DrawFn) -> World:
    units: list[Unit] = []
    home: dict[int, int] = {}
    for place in range(draw(st.integers(1, 8))):
        members: list[Member] = []
        sources: set[int] = set()
        for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
            id = len(home)
            streams = draw(st.lists(st.integers(0, max(id - 1, 0)), max_size=2, unique=True)) if id else []
            tables = draw(st.lists(st.integers(1, 3), min_size=0 if streams else 1, max_size=2, unique=True))
            members.append(member(id, *tables, streams=streams, clocks=[draw(st.sampled_from(CLOCKS))]))
            sources |= {home[s] for s in streams} - {place}
            home[id] = place
        limit = draw(st.sampled_from([1, 2, NO_LIMIT, NO_LIMIT]))
        units.append(Unit(tuple(members), tuple(sorted(sources)), slowest=draw(st.booleans()), limit=limit))
    return World(units, draw(st.integers(1, 3)), Random(draw(st.integers(0, 1 << 20))))


@settings(max_examples=150, deadline=None)
@given(worlds(), st.floats(0, 1))
def test_nothing_runs_twice_or_too_early_and_all_is_fresh_in_the_end(world: World, busy: float) -> None:
    for _ in range(40):
        if world.rng.random() < busy:
            world.commit(world.rng.sample([1, 2, 3], world.rng.randint(1, 2)))
        world.step()
    for _ in range(60 * len(world.units)):
        if not world.step().behind and not world.running:
            break
    assert world.step().behind == frozenset(), "when changes end, every table shows them all"


@settings(max_examples=40, deadline=None)
@given(worlds())
def test_under_changes_that_never_end_nobody_starves(world: World) -> None:
    last = dict.fromkeys(range(len(world.units)), 0)
    longest = 0
    for second in range(400):
        world.commit([1, 2, 3])
        for start in world.step().starts:
            longest = max(longest, second - last[start.unit])
            last[start.unit] = second
    assert min(last.values()) > 0
    # Each waits for its own interval, for one run of each source, and for everybody else's turn on a single worker.
    assert longest <= 7 + 6 * (len(world.units) + 1) * 2


@pytest.mark.parametrize("clock", [Every(60), Cron("*/5 * * * *"), OnChange()])
def test_a_decision_over_a_thousand_tables_takes_less_than_20_ms(clock: Clock) -> None:
    units = [alone(n, n % 50 + 1, clocks=[clock], sources=[n - 10] if n >= 10 else ()) for n in range(1000)]
    found = replace(state(units, head=10, orders=7, items=8), changed=dict.fromkeys(range(1, 51), 3) | {1: 7, 2: 8})
    decide(found, NOON)
    took = []
    for n in range(20):
        began = time.thread_time()  # others on the machine do not count
        decide(found, later(n))
        took.append(time.thread_time() - began)
    assert sorted(took)[10] < 0.020
