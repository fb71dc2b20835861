"""Said otherwise or done otherwise, the same comes out; and a rule that does not care is caught by each comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from trickle.delta import RULES, Rule
from trickle.errors import TrickleError
from trickle.plan import WEIGHT, Distinct, Filter, Join, Node, Scan, both, col, number, weight
from trickle.testing.effort import Effort
from trickle.testing.oracle.mutations import drop_term, swap_states
from trickle.testing.queries.cases import cases, story
from trickle.testing.queries.metamorphic import (
    WRAPPERS,
    LoudBench,
    both_orders,
    in_one_batch,
    in_vain,
    total,
    wrapped,
)
from trickle.testing.specs import Bench, Delta, Spec, Story

Rules = Mapping[type[Node], Rule]
SIZES = (50, 1_000, 5_000)
LIGHT = 100
"""Queries whose change has more operators are left to the other tests."""


def light_cases(count: int) -> Iterator[tuple[Story, list[Spec]]]:
    for past, batch in cases(0, count):
        with Bench(past) as bench:
            yield past, [case.spec for case in batch if is_light(bench, case.spec)]


def is_light(bench: Bench, spec: Spec) -> bool:
    try:
        return weight(bench.change(spec)) <= LIGHT
    except TrickleError:
        return False


def deltas(bench: Bench, spec: Spec) -> list[Delta]:
    return list(bench.deltas(spec))


def differ_in_batches(count: int, rules: Rules = RULES) -> Iterator[str]:
    for past, specs in light_cases(count):
        with Bench(past, rules) as many, Bench(in_one_batch(past), rules) as one:
            yield from (s.query for s in specs if total(deltas(many, s)) != total(deltas(one, s)))


def differ_in_feeds(count: int, rules: Rules = RULES) -> Iterator[str]:
    for past, specs in light_cases(count):
        with Bench(past, rules) as net, LoudBench(past, rules) as loud:
            yield from (s.query for s in specs if deltas(net, s) != deltas(loud, s))


def change_in_vain(count: int, rules: Rules = RULES) -> Iterator[str]:
    for past, specs in light_cases(count):
        with LoudBench(in_vain(past), rules) as bench:
            yield from (s.query for s in specs if any(d.gained or d.lost for d in bench.deltas(s)))


def differ_when_wrapped(count: int, wrappers: Mapping[str, object]) -> Iterator[str]:
    for past, specs in light_cases(count):
        with Bench(past) as bench:
            for spec in specs:
                others = [wrapped(spec, wrapper) for wrapper in wrappers.values()]  # type: ignore[arg-type]
                yield from (o.query for o in others if deltas(bench, o) != deltas(bench, spec))


def differ_in_order(count: int, rules: Rules = RULES) -> Iterator[str]:
    for seed in range(0, count * 25, 25):
        with Bench(story(seed), rules) as bench:
            first, second = both_orders(seed)
            if is_light(bench, first) and deltas(bench, first) != deltas(bench, second):
                yield first.query


def test_one_batch_or_many(effort: Effort) -> None:
    assert list(differ_in_batches(effort.of(*SIZES))) == []


def test_an_update_or_a_delete_and_an_insert(effort: Effort) -> None:
    assert list(differ_in_feeds(effort.of(*SIZES))) == []


def test_a_change_that_cancels_itself(effort: Effort) -> None:
    assert list(change_in_vain(effort.of(*SIZES))) == []


def test_a_query_in_a_subquery_or_a_cte(effort: Effort) -> None:
    assert list(differ_when_wrapped(effort.of(*SIZES), WRAPPERS)) == []


def test_joins_in_either_order(effort: Effort) -> None:
    assert list(differ_in_order(effort.of(25, 500, 2_000))) == []


def test_a_join_that_reads_the_wrong_state_differs_in_batches() -> None:
    assert any(differ_in_batches(150, {**RULES, Join: lambda *a: swap_states(RULES[Join](*a))}))


def test_a_distinct_that_counts_no_copies_differs_in_feeds() -> None:
    assert any(differ_in_feeds(150, {**RULES, Distinct: lambda node, change: Distinct(change)}))


def test_a_scan_that_sees_only_what_comes_changes_in_vain() -> None:
    def hopeful(node: Scan) -> Node:
        return Filter(RULES[Scan](node), both(col(WEIGHT), number(0), exp.GT))

    assert any(change_in_vain(25, {**RULES, Scan: hopeful}))


def test_a_wrapper_that_is_not_neutral_differs() -> None:
    assert any(differ_when_wrapped(50, {"distinct": lambda text: f"SELECT DISTINCT * FROM ({text}) AS wrapped"}))


def test_a_join_that_forgets_a_term_differs_in_order() -> None:
    assert any(differ_in_order(50, {**RULES, Join: lambda *a: drop_term(RULES[Join](*a))}))
