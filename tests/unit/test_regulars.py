"""Whatever comes and goes: as many as there is place for stay, those that are wanted most often first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trickle.regulars import Regulars


def served(guests: Regulars[int, int], key: int) -> bool:
    """Whether it was kept; what is regular is kept from now on."""
    if guests.get(key) == key:
        return True
    if guests.is_regular(key):
        guests.keep(key, key)
    return False


def test_what_comes_a_second_time_is_kept() -> None:
    guests = Regulars[int, int](places=3, after=1)
    assert [served(guests, 1) for _ in range(4)] == [False, False, True, True]


def test_going_round_through_more_than_there_is_place_for_keeps_as_many_as_there_is() -> None:
    guests = Regulars[int, int](places=10, after=1)
    for _ in range(3):
        found = [served(guests, key) for key in range(15)]
    assert sum(found) == 10


def test_what_comes_more_often_takes_the_place_of_what_does_no_more() -> None:
    guests = Regulars[int, int](places=2, after=1)
    for key in (1, 2, 1, 2, 3, 3):
        served(guests, key)
    assert served(guests, 3) and not served(guests, 1)


def test_what_is_kept_is_not_new_and_what_waits_for_a_place_neither() -> None:
    guests = Regulars[int, int](places=1, after=1)
    assert not served(guests, 1) and guests.is_new(1)
    for key in (1, 2, 1, 2):
        served(guests, key)
    assert not guests.is_new(1) and not guests.is_new(2) and guests.is_new(3)


@given(keys=st.lists(st.integers(0, 30), max_size=200), places=st.integers(1, 10), after=st.integers(0, 2))
def test_no_more_is_kept_than_there_is_place_for(keys: list[int], places: int, after: int) -> None:
    guests = Regulars[int, int](places, after)
    for key in keys:
        served(guests, key)
        assert len(guests._kept) <= places
    assert all(guests.get(key, key) == key for key in keys)
