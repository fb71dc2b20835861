"""Where deletes belong that are written into a snapshot that did not make them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trickle.lake.model import Move
from trickle.lake.placing import place


def test_the_last_ones_belong_to_who_wrote_the_file_though_others_deleted_between() -> None:
    assert place([3, 5], {5}, {3, 6, 7, 9}, 9, {}, set) == (Move(5, 9, 9),)


def test_what_was_certain_once_stays_so() -> None:
    known = {5: Move(5, 6, 6)}
    assert place([3, 5, 9], {5}, {3, 6, 8, 9}, 9, known, set) == (Move(5, 6, 6),)


def test_without_anybody_who_says_so_they_stay() -> None:
    assert place([3, 5, 9], {5}, {3, 9}, 9, {}, set) == ()
    assert place([3, 5], set(), {3, 5}, 5, {}, set) == ()


@given(st.data())
def test_of_any_history_of_one_file_the_truth_is_among_what_is_found(data: st.DataObject) -> None:
    """Commits one after another; some delete from the file, some of those at a second try, stamped too early."""
    stamps: list[int] = []
    told: set[int] = set()
    truth: dict[int, int] = {}
    elsewhere: set[int] = set()
    now, written = 1, 0
    for kind in data.draw(st.lists(st.sampled_from(["other", "elsewhere", "here", "late"]), min_size=1, max_size=12)):
        if kind == "late":
            tried, now = now, now + data.draw(st.integers(1, 3))  # others were faster, and said nothing of deletes
            stamps.append(tried)
            truth[tried] = now
        elif kind == "here":
            stamps.append(now)
        elif kind == "elsewhere":
            elsewhere.add(now)
        if kind != "other":
            told.add(now)
        written = now if kind in ("here", "late") else written
        now += 1
    silent = {stamp for stamp in stamps if stamp not in told}
    found = {move.said: move for move in place(stamps, silent, told, written, {}, lambda: elsewhere)}
    assert found.keys() == truth.keys() == silent
    assert all(found[stamp] == Move(stamp, at, at) for stamp, at in truth.items())
    blind = {move.said: move for move in place(stamps, silent, told, written, {}, set)}
    assert all(blind[stamp].first <= at <= blind[stamp].last for stamp, at in truth.items())
