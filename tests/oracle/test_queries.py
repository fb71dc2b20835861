"""Random queries as text, judged by DuckDB: the plan means the query, and before + delta == after.

5,000 queries; with `--heavy` 20,000, with `--long` 100,000. `python -m trickle.testing.queries` asks for any seeds.
"""

from __future__ import annotations

from collections import Counter

import pytest

from trickle.delta import RULES, Rule
from trickle.plan import Aggregate, Distinct, Join, Node, OuterJoin, Project, SemiJoin, SetOp, UnionAll, Window
from trickle.testing.effort import Effort
from trickle.testing.oracle.mutations import MUTATIONS, broken
from trickle.testing.queries.cases import cases
from trickle.testing.queries.law import Outcome, judged
from trickle.testing.specs import Bench

BLOCKS = 20
QUERIES = (250, 1_000, 5_000)
LEAST_JUDGED = 0.9
LEAST_CHANGED = 0.25
"""Shares of queries: so many are judged, not refused, and so many see their answer change."""


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("block", range(BLOCKS))
def test_random_queries_are_followed(effort: Effort, block: int) -> None:
    count = effort.of(*QUERIES)
    outcomes, changed = Counter[Outcome](), 0
    for story, batch in cases(block * count, count):
        with Bench(story) as bench:
            for verdict in judged(bench, batch):
                assert not verdict.is_failure, verdict
                outcomes[verdict.outcome] += 1
                changed += verdict.changed
    print({outcome.value: n for outcome, n in outcomes.items()}, f"{changed} changed")
    assert outcomes[Outcome.HOLDS] > LEAST_JUDGED * count
    assert changed > LEAST_CHANGED * count


@pytest.mark.parametrize("node", [Project, Join, OuterJoin, SemiJoin, Aggregate, Distinct, SetOp, Window, UnionAll])
@pytest.mark.parametrize("mutation", ["flipped sign", "dropped term"])
def test_a_broken_rule_is_caught(node: type[Node], mutation: str) -> None:
    if node is Project and mutation == "dropped term":
        mutation = "flipped sign"
    rules: dict[type[Node], Rule] = {**RULES, node: broken(RULES[node], MUTATIONS[mutation])}
    assert any(
        verdict.outcome is Outcome.DELTA
        for story, batch in cases(0, 200)
        for verdict in _judged(Bench(story, rules), batch)
    )


def _judged(bench: Bench, batch: list) -> list:  # type: ignore[type-arg]
    with bench:
        return list(judged(bench, batch))
