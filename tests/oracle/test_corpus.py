"""Queries that once were answered wrongly, as spec files: at every step, before + delta == after.

A step's tables that do not change are known not to, as in a refresh.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from trickle.testing.queries.cases import Case
from trickle.testing.queries.law import Outcome, judge_case
from trickle.testing.specs import Bench, Spec, read_specs, read_story

HERE = Path(__file__).parent / "corpus"
STORY = read_story(HERE / "_setup.sql")
SPECS = [spec for path in sorted(HERE.glob("[a-z]*.sql")) for spec in read_specs(path)]


@pytest.mark.parametrize("spec", SPECS, ids=[spec.id for spec in SPECS])
def test_what_was_wrong_stays_right(spec: Spec) -> None:
    with Bench(STORY) as bench:
        verdicts = [judge_case(bench, Case(0, spec), number) for number in range(1, len(STORY.steps) + 1)]
    for verdict in verdicts:
        assert verdict.outcome is Outcome.HOLDS, verdict
    assert any(verdict.changed for verdict in verdicts)
