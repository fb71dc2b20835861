"""The decision how to refresh is a function of facts."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trickle.refresh.choose import COLD_RATIO, STALE, Choice, Facts, choose
from trickle.registry.models import Refresh

NOW = datetime(2024, 2, 29, tzinfo=UTC)


def past(action: str, duration_ms: float, changed_rows: int = 0, error: str = "", reason: str = "") -> Refresh:
    return Refresh(1, "t", NOW, NOW, action, reason, 0, 0, changed_rows, duration_ms, 1, 1, "user", error)


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
    fulls = [past("FULL", 1000, 50_000, reason="cost_model")] * 2
    history = [*(past("DIFFERENTIAL", 10.0 * n, 1000 * n) for n in (20, 5, 1, 1, 5, 20)), *fulls]
    facts = Facts("AUTO", history=history, source_rows=100_000)
    assert choose(replace(facts, changed_rows=60_000)).action == "DIFFERENTIAL", "60 % changed, but still cheaper"
    assert choose(replace(facts, changed_rows=300_000)) == Choice("FULL", "change_ratio"), "as the line says"
    assert "differential should take 3000 ms" in choose(replace(facts, changed_rows=300_000)).why
    slow = [past("DIFFERENTIAL", 3000, 300_000)] * 2
    assert choose(replace(facts, history=[*slow, *fulls, *fulls], changed_rows=200_000)) == Choice("FULL", "cost_model")


def test_refreshes_that_failed_teach_nothing() -> None:
    failed = [past("DIFFERENTIAL", 1, n, error="x") for n in range(5)]
    facts = Facts(
        "AUTO", history=[*failed, past("FULL", 1, reason="initial_load")], changed_rows=50_000, source_rows=100_000
    )
    assert choose(facts) == Choice("FULL", "change_ratio")


def test_what_was_before_another_query_teaches_nothing() -> None:
    before = [past("DIFFERENTIAL", 1, 100_000)] * 3
    anew = past("REINITIALIZE", 1000, reason="query_changed")
    facts = Facts("AUTO", history=[anew, *before], changed_rows=100_000, source_rows=100_000)
    assert choose(facts) == Choice("FULL", "change_ratio")


def test_a_full_refresh_that_was_asked_for_does_not_make_others_full() -> None:
    quick, asked = [past("DIFFERENTIAL", 100, 10)] * 5, past("FULL", 500, 10, reason="requested")
    assert choose(Facts("AUTO", history=[asked, *quick], changed_rows=10, source_rows=10_000)) == Choice("DIFFERENTIAL")


def test_a_full_refresh_is_tried_only_where_it_may_be_cheaper() -> None:
    initial, quick = past("FULL", 350, reason="initial_load"), [past("DIFFERENTIAL", 100, 10)] * 5
    facts = Facts("AUTO", history=[*quick, initial], changed_rows=10, source_rows=10_000)
    assert choose(facts) == Choice("FULL", "cost_trial")
    learning = [replace(h, learning_ms=60.0) for h in quick[:4]]
    assert choose(replace(facts, history=[*learning, initial])).reason == "", "they may get quicker yet"
    slow = replace(initial, duration_ms=500)
    assert choose(replace(facts, history=[*quick, slow])) == Choice("DIFFERENTIAL")
    known = [past("FULL", 110, 10, reason="cost_trial")] * 2
    assert choose(replace(facts, history=[*known, *quick, initial])).action == "FULL", "about as good: it goes on"
    assert choose(replace(facts, history=[*[replace(h, duration_ms=130) for h in known], *quick])).reason == ""


def test_a_few_rows_after_bulk_loads_are_differential_again() -> None:
    loads = [past("FULL", 100, 900, reason="change_ratio")] * 3
    facts = Facts("AUTO", history=[*loads, past("FULL", 500, reason="initial_load")], source_rows=5000)
    assert choose(replace(facts, changed_rows=9)) == Choice("DIFFERENTIAL")


def test_of_small_sources_nothing_is_learned() -> None:
    initial, slow = past("FULL", 10, reason="initial_load"), [past("DIFFERENTIAL", 1000, 10)] * 5
    facts = Facts("AUTO", history=[*slow, initial], changed_rows=10, source_rows=1000)
    assert choose(facts) == Choice("DIFFERENTIAL")
    assert choose(replace(facts, changed_rows=500)) == Choice("FULL", "change_ratio")


def test_what_the_other_way_takes_is_measured_again_after_a_day() -> None:
    quick, full = [past("DIFFERENTIAL", 100, 10)] * 5, [past("FULL", 130, 10, reason="cost_trial")] * 2
    facts = Facts("AUTO", changed_rows=10, source_rows=10_000)
    then = [replace(h, finished_at=NOW - STALE - timedelta(seconds=1)) for h in full]
    assert choose(replace(facts, history=[*quick, *full])).action == "DIFFERENTIAL"
    assert choose(replace(facts, history=[*quick, *then])) == Choice("FULL", "cost_trial")
    dear = [replace(h, duration_ms=160) for h in then]
    assert choose(replace(facts, history=[*quick, *dear])).action == "DIFFERENTIAL"


@settings(deadline=None)
@given(
    rows=st.integers(0, 10**9),
    source_rows=st.integers(0, 10**9),
    lines=st.lists(
        st.builds(
            past,
            st.sampled_from(["DIFFERENTIAL", "FULL", "REINITIALIZE", "NO_DATA", "SKIP"]),
            st.floats(0, 1e9),
            st.integers(0, 10**9),
            st.sampled_from(["", "boom"]),
            st.sampled_from(["", "initial_load", "cost_model", "cost_trial", "change_ratio", "requested"]),
        ),
        max_size=40,
    ),
)
def test_any_history_leads_to_one_of_two_ways_with_a_reason(rows: int, source_rows: int, lines: list[Refresh]) -> None:
    choice = choose(Facts("AUTO", changed_rows=rows, source_rows=source_rows, history=lines))
    assert choice.action in ("DIFFERENTIAL", "FULL")
    assert (choice.reason == "") == (choice.action == "DIFFERENTIAL")
