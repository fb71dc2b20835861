"""The decision how to refresh is a function of facts."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from trickle.refresh.choose import COLD_RATIO, MARGIN, SAMPLES, Choice, Facts, choose, expected_ms
from trickle.registry.models import Refresh

NOW = datetime(2024, 2, 29, tzinfo=UTC)


def past(action: str, duration_ms: float, changed_rows: int = 0, error: str = "") -> Refresh:
    return Refresh(1, "t", NOW, NOW, action, "", 0, 0, changed_rows, duration_ms, 1, 1, "user", error)


@pytest.mark.parametrize(
    ("facts", "choice"),
    [
        (Facts("AUTO", suspended=True, populated=False), Choice("SKIP", "suspended")),
        (Facts("DIFFERENTIAL", populated=False, pending="x"), Choice("FULL", "initial_load")),
        (Facts("DIFFERENTIAL", pending="query_changed", changed=False), Choice("REINITIALIZE", "query_changed")),
        (Facts("DIFFERENTIAL", full_requested=True, changed=False), Choice("FULL", "requested")),
        (Facts("FULL", changed=False), Choice("NO_DATA")),
        (Facts("AUTO", expired=True), Choice("REINITIALIZE", "history_expired")),
        (Facts("FULL"), Choice("FULL", "refresh_mode")),
        (Facts("AUTO", obstacle="rand()"), Choice("FULL", "not_incremental:rand()")),
        (Facts("DIFFERENTIAL", changed_rows=99, source_rows=100), Choice("DIFFERENTIAL")),
        (Facts("DIFFERENTIAL", append_only=True), Choice("DIFFERENTIAL")),
        (Facts("DIFFERENTIAL", append_only=True, removed=True), Choice("DIFFERENTIAL", "append_only_ended")),
        (Facts("DIFFERENTIAL", removed=True), Choice("DIFFERENTIAL")),
        (Facts("AUTO", append_only=True, removed=True, source_rows=100), Choice("DIFFERENTIAL", "append_only_ended")),
    ],
)
def test_what_stands_first_decides(facts: Facts, choice: Choice) -> None:
    assert choose(facts) == choice


def test_without_history_the_share_of_changed_rows_decides() -> None:
    facts = Facts("AUTO", source_rows=1000)
    assert choose(replace(facts, changed_rows=int(1000 * COLD_RATIO))).action == "DIFFERENTIAL"
    assert choose(replace(facts, changed_rows=int(1000 * COLD_RATIO) + 1)) == Choice("FULL", "change_ratio")


def test_with_history_the_cheaper_way_is_taken() -> None:
    history = [past("FULL", 1000), *(past("DIFFERENTIAL", 10.0 * n, n) for n in (1, 5, 20))]
    facts = Facts("AUTO", history=history, source_rows=100)
    assert choose(replace(facts, changed_rows=90)).action == "DIFFERENTIAL", "90 % changed, but still cheaper"
    assert choose(replace(facts, changed_rows=int(100 * MARGIN) + 1)) == Choice("FULL", "cost_model")


def test_refreshes_that_failed_teach_nothing() -> None:
    failed = [past("DIFFERENTIAL", 1, n, error="x") for n in range(SAMPLES)]
    facts = Facts("AUTO", history=[past("FULL", 1), *failed], changed_rows=50, source_rows=100)
    assert choose(facts) == Choice("FULL", "change_ratio")


def test_what_is_expected_is_never_below_the_fastest_yet() -> None:
    lines = [past("DIFFERENTIAL", 100, 10), past("DIFFERENTIAL", 200, 20)]
    assert expected_ms(lines, 30) == pytest.approx(300)
    assert expected_ms(lines, 0) == 100
    assert (
        expected_ms([past("DIFFERENTIAL", 300, 1), past("DIFFERENTIAL", 100, 9), past("DIFFERENTIAL", 90, 9)], 5) == 100
    )
