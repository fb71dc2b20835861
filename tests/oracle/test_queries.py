"""Random queries as text, judged by DuckDB: the plan means the query, before + delta == after, what is stored too.

500 queries; with `--heavy` 20,000, with `--long` 100,000. `python -m trickle.testing.queries` asks for any seeds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import pytest

from trickle.delta import RULES, Rule
from trickle.delta.state.cells import Cell
from trickle.plan import Aggregate, Join, Node, OuterJoin, Project, SetOp, Window, col
from trickle.testing.effort import Effort
from trickle.testing.oracle import DuckEngine
from trickle.testing.oracle.mutations import MUTATIONS, broken
from trickle.testing.queries.cases import cases, sampled
from trickle.testing.queries.kept import kept
from trickle.testing.queries.law import Outcome, Verdict, judged
from trickle.testing.specs import Bench

BLOCKS, IN_CI = 20, 2
BLOCK = pytest.mark.parametrize(
    "block", [*range(IN_CI), *(pytest.param(n, marks=pytest.mark.heavy) for n in range(IN_CI, BLOCKS))]
)
QUERIES = (250, 1_000, 5_000)
LEAST_JUDGED = 0.9
LEAST_KEPT = 0.8
LEAST_CHANGED = 0.25
"""Shares of queries: so many are judged, not refused, and so many see their answer change."""


CONTROLS = [
    *((node, "flipped sign") for node in (Project, Aggregate, Window)),
    *((node, "dropped term") for node in (Join, OuterJoin, SetOp)),
]
"""A sample: `test_negative_controls.py` breaks every rule in every way, on a query made for it."""


def verdicts(start: int, count: int, rules: Mapping[type[Node], Rule] = RULES) -> Iterator[Verdict]:
    for story, batch in cases(start, count):
        with Bench(story, rules) as bench:
            yield from judged(bench, batch)


def stored_verdicts(start: int, count: int) -> Iterator[Verdict]:
    """A sample, judged as a refresh goes: stored, with intermediates, through all steps."""
    for story, batch in sampled(start, count):
        with Bench(story) as bench:
            yield from (kept(bench, case) for case in batch)


@pytest.mark.timeout(3600)
@BLOCK
def test_random_queries_are_followed(effort: Effort, block: int) -> None:
    count = effort.of(*QUERIES)
    outcomes, changed = Counter[Outcome](), 0
    for verdict in verdicts(block * count, count):
        assert not verdict.is_failure, verdict
        outcomes[verdict.outcome] += 1
        changed += verdict.changed
    print({outcome.value: n for outcome, n in outcomes.items()}, f"{changed} saw their answer change")
    assert outcomes[Outcome.HOLDS] > LEAST_JUDGED * count
    assert changed > LEAST_CHANGED * count


@pytest.mark.timeout(3600)
@BLOCK
def test_random_queries_are_kept(effort: Effort, block: int) -> None:
    count = effort.of(*QUERIES)
    outcomes, changed = Counter[Outcome](), 0
    for verdict in stored_verdicts(block * count, count):
        assert not verdict.is_failure, verdict
        outcomes[verdict.outcome] += 1
        changed += verdict.changed
    print({outcome.value: n for outcome, n in outcomes.items()}, f"{changed} saw their answer change")
    assert outcomes[Outcome.HOLDS] > LEAST_KEPT * outcomes.total()
    assert changed > LEAST_CHANGED * outcomes.total()


def test_stored_rows_that_forget_what_they_held_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cell, "added", lambda self, stored: col(self.name))
    assert any(verdict.is_failure for verdict in stored_verdicts(0, 600))


def test_an_intermediate_that_is_left_behind_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    difference = DuckEngine.difference
    monkeypatch.setattr(DuckEngine, "difference", lambda self, old, new, to: difference(self, old, old, to))
    assert any(verdict.outcome is Outcome.STORED for verdict in stored_verdicts(0, 600))


@pytest.mark.parametrize(("node", "mutation"), CONTROLS, ids=lambda v: getattr(v, "__name__", v))
def test_a_broken_rule_is_caught(node: type[Node], mutation: str) -> None:
    rules = {**RULES, node: broken(RULES[node], MUTATIONS[mutation])}
    assert any(verdict.outcome is Outcome.DELTA for verdict in verdicts(0, 300, rules))
