"""Recommendations follow the history, are surer with more of it, and are not made from little."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from trickle.ops.recommend import confidence, mode_for, schedule_for
from trickle.registry.models import Refresh

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def line(n: int, ms: float, gap: float = 5, action: str = "DIFFERENTIAL") -> Refresh:
    at = NOON + timedelta(seconds=n * gap)
    return Refresh(1, "per", at, at, action, "", 1, 1, 10, ms, n, n, "scheduler")


def test_a_slow_refresh_gets_a_longer_interval() -> None:
    assert schedule_for([line(n, 150) for n in range(20)], 10)[0] == "2s"
    assert schedule_for([line(n, 2500) for n in range(20)], 10)[0] == "30s"


def test_rare_changes_are_waited_for() -> None:
    assert schedule_for([line(n, 150, gap=600) for n in range(20)], 10)[0] == "on_change"


@given(st.integers(0, 9))
def test_little_history_recommends_nothing(number: int) -> None:
    past = [line(n, 150) for n in range(number)]
    assert schedule_for(past, 10)[0] is None
    assert mode_for(past, "", 10)[0] is None


@given(st.integers(10, 400), st.integers(1, 100))
def test_confidence_grows_with_the_history(samples: int, more: int) -> None:
    assert 0.5 <= confidence(samples, 10) < confidence(samples + more, 10) < 1


@given(st.lists(st.sampled_from(["DIFFERENTIAL", "FULL", "NO_DATA", "SKIP"]), max_size=80), st.integers(0, 80))
def test_more_history_of_whatever_kind_never_silences_a_recommendation(actions: list[str], fewer: int) -> None:
    """As the registry hands it out: of each kind that computed something the newest, at most so many."""

    def known(lines: list[str]) -> list[Refresh]:
        kinds = [
            [line(n, 100, action=a) for n, a in enumerate(lines) if a == kind] for kind in ("DIFFERENTIAL", "FULL")
        ]
        return [refresh for kind in kinds for refresh in kind[-20:]]

    before, after = known(actions[:fewer]), known(actions)
    assert confidence(len(before), 10) <= confidence(len(after), 10)
    for recommend in (lambda past: schedule_for(past, 10)[0], lambda past: mode_for(past, "", 10)[0]):
        assert recommend(before) is None or recommend(after) is not None


def test_a_mode_is_recommended_over_another_only_when_both_were_seen_a_few_times() -> None:
    changes = [line(n, 100) for n in range(20)]
    for number, recommended in ((0, None), (2, None), (3, "DIFFERENTIAL")):
        past = [*changes, *(line(n, 1000, action="FULL") for n in range(number))]
        found, reason = mode_for(past, "", 10)
        assert found == recommended
        assert recommended or f"{number} full refreshes; 10 are needed, 3 of each kind" in reason


def test_the_quicker_mode_is_recommended_if_it_clearly_is() -> None:
    def past(changes: float, whole: float) -> list[Refresh]:
        return [*(line(n, changes) for n in range(10)), *(line(n, whole, action="FULL") for n in range(10, 14))]

    assert mode_for(past(100, 1000), "", 10)[0] == "DIFFERENTIAL"
    assert mode_for(past(1000, 100), "", 10)[0] == "FULL"
    assert mode_for(past(100, 105), "", 10)[0] == "AUTO"
    assert mode_for([], "rand()", 10)[0] == "FULL"
