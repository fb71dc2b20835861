"""Broken state is caught: the tests of stored aggregates can fail."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from trickle.delta.state import algebra as algebras
from trickle.delta.state import cells, merge
from trickle.delta.state.algebra import Algebra
from trickle.delta.state.cells import Cell
from trickle.plan import Item, Node, number
from trickle.testing.oracle import DuckEngine, StoredWorld, random_history

QUERY = "SELECT k, max(v) AS x, sum(v) AS y, count(*) AS n FROM a GROUP BY k"


def caught(query: str = QUERY) -> bool:
    world = StoredWorld(DuckEngine(), random_history(Random(3), 40))
    try:
        return world.check(query) is not None
    except AssertionError:
        return True


def test_the_unbroken_state_is_right() -> None:
    assert not caught()


def test_signs_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells.Cell, "signed", lambda self: self.of_row.copy())
    assert caught()


def test_a_lost_extremum_unnoticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(item: Item, columns: object, float_sums: bool = True) -> object:
        found = algebras.algebra(item, columns, float_sums)  # type: ignore[arg-type]
        return replace(found, stale=None) if isinstance(found, Algebra) else found

    monkeypatch.setattr("trickle.delta.state.storage.algebra", forgetful)
    assert caught()


def test_a_sum_of_nothing_left_at_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cell, "value", lambda self: cells.col(self.name))
    assert caught()


def test_empty_groups_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge, "alive", lambda storage: number(1).eq(1))
    assert caught()


def test_values_that_cancel_not_counted_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without netting, a value that came and went within one change passes for an extremum."""

    def hasty(storage: merge.Storage, change: Node, growing: bool) -> Node:
        from trickle.plan import Column, Project, null, when

        keys = storage.aggregate.keys if storage.aggregate else ()
        sums = [merge._signed(c) for c in storage.cells if not c.only_grows]
        growing = [c for c in storage.cells if c.only_grows]
        came = [Item(Column(c.name), when(cells.came(), c.of_row, null())) for c in growing]
        gone = [Item(Column(c.went), null()) for c in growing]
        return Project(change, (*keys, *sums, *came, *gone))

    monkeypatch.setattr(merge, "changed_part", hasty)
    assert caught()
