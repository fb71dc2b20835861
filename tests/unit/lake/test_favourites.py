"""What is wanted again and again stays, whatever else is wanted for a moment; never more than there is place for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trickle.lake.favourites import Favourites


def served(kept: Favourites[int], key: int, bytes: int = 1) -> bool:
    if kept.get(key) == key:
        return True
    kept.put(key, key, bytes)
    return False


def test_going_round_through_a_little_more_than_there_is_place_for_keeps_most_of_it() -> None:
    kept = Favourites[int](100)
    for _ in range(30):
        found = sum(served(kept, key) for key in range(120))
    assert found >= 60


def test_what_is_wanted_for_a_moment_does_not_drive_out_what_is_wanted_in_every_round() -> None:
    """As columns of a table that each refresh looks keys up in, and those of the files that a change touched."""
    kept, fresh = Favourites[int](100), 1000
    for _ in range(20):
        found = sum(served(kept, key) for key in range(70))
        moment = range(fresh, fresh := fresh + 24)
        again = [served(kept, key) for _ in range(8) for key in moment]
    assert found == 70
    assert again == [False] * 24 + [True] * 24 * 7


def test_what_is_no_longer_wanted_makes_place_in_the_end() -> None:
    kept = Favourites[int](100)
    for _ in range(50):
        for key in range(75):
            served(kept, key)
    for _ in range(50):
        found = sum(served(kept, key) for key in range(1000, 1075))
    assert found == 75


def test_what_is_too_large_for_the_part_of_what_came_last_drives_nothing_out_of_it() -> None:
    kept = Favourites[int](100)
    for key in range(20):
        served(kept, key)
    served(kept, 99, bytes=76)
    served(kept, 98, bytes=60)
    assert [99 in kept, 98 in kept, *(key in kept for key in range(20))] == [False, True] + [True] * 20


def test_what_is_gone_is_forgotten() -> None:
    kept = Favourites[int](10)
    for key in range(5):
        served(kept, key)
    kept.forget(lambda key: key % 2 == 0)
    assert [key in kept for key in range(5)] == [False, True, False, True, False]
    assert kept.bytes == len(kept) == 2


@given(
    asked=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 12)), max_size=200),
    most=st.integers(0, 30),
)
def test_no_more_is_kept_than_there_is_place_for(asked: list[tuple[int, int]], most: int) -> None:
    kept = Favourites[int](most)
    for key, bytes in asked:
        served(kept, key, bytes)
        held = [*kept._last.held.values(), *kept._proven.held.values()]
        assert kept.bytes == sum(size for _, size in held) <= most
        assert all(value == kept.get(value) for value, _ in held)
