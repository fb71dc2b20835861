"""The scheduler's loop over a real catalog: when it ends, what it does beside refreshes, what it tells."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from trickle.errors import StorageError
from trickle.lake.maintenance import orphans
from trickle.ops import fuse
from trickle.refresh.result import RefreshResult
from trickle.registry.models import Dependency, StreamTable
from trickle.scheduler.workers import Workers
from trickle.testing.lakes import sqlite_site
from trickle.testing.streams.pretence import Pretence, moved, wait

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Pretence]:
    with Pretence.at(sqlite_site(tmp_path / "lake"), scheduler__lease_seconds=1.0, scheduler__workers=1) as shop:
        yield shop


# Until nothing is left to do.


def test_a_run_until_idle_ends_beside_what_is_held_and_says_why(shop: Pretence) -> None:
    shop.db.sql("CREATE TABLE items (id INT)")
    items = Dependency("main.items", 2, ("id",), "")
    free = shop.stream("free", schedule="on_change")
    told = shop.stream("told", schedule="manual")
    shop.stream("cold", schedule="on_change", tier="frozen")
    asleep = shop.stream("asleep", schedule="1s")
    blown = shop.stream("blown", schedule="on_change")
    shop.stream("gated", items, schedule="1h")
    shop.stream("over", Dependency(told.stored, 77, ("id",), ""), schedule="on_change")
    shop.db.gate_source("items")
    with shop.db.lake.catalog.writing() as connection:
        shop.scheduling.suspend(connection, asleep, "")
    shop.blow(blown)
    shop.change()
    shop.db.append("items", [{"id": 1}])
    held = shop.until_idle()
    assert held == {
        "told": "manual",
        "cold": "frozen",
        "asleep": "suspended",
        "blown": "fuse_blown",
        "gated": "gated",
        "over": "source",
    }
    assert shop.frontier(free) == shop.db.head()
    assert {(e.name, e.asdict()["reason"]) for e in shop.told if e.kind == "held"} == set(held.items())


def test_a_run_until_idle_ends_while_all_is_paused(shop: Pretence) -> None:
    per = shop.stream("per", schedule="on_change")
    shop.db.pause()
    shop.change()
    assert shop.until_idle() == {"per": "paused"}
    shop.db.resume()
    assert shop.until_idle() == {}
    assert shop.frontier(per) == shop.db.head()


def test_a_run_until_idle_waits_for_what_is_due_later(shop: Pretence) -> None:
    per = shop.stream("per", schedule="700ms")
    shop.change()
    assert shop.until_idle() == {}
    assert shop.frontier(per) == shop.db.head()


# What happens beside refreshes.


def test_orphans_are_collected_at_the_start_beside_refreshes(shop: Pretence, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one worker, that is free for refreshes all the time."""
    going, ended = threading.Event(), threading.Event()

    def collect(*_: object) -> Iterator[None]:
        going.wait(30)
        yield None
        ended.set()

    monkeypatch.setattr(orphans, "collect_orphans", collect)
    per = shop.stream("per", schedule="on_change")
    shop.change()
    assert shop.until_idle() == {}
    assert shop.frontier(per) == shop.db.head()
    going.set()
    assert ended.wait(30)


def test_what_crashes_left_is_removed_when_a_scheduler_starts(shop: Pretence) -> None:
    left = Path(shop.db.lake.storage.root) / "main" / "left.parquet"
    left.parent.mkdir(parents=True, exist_ok=True)
    left.write_bytes(b"x")
    os.utime(left, (1, 1))
    with shop.running():
        wait(lambda: not left.exists())


def test_a_reader_of_what_is_stuck_is_told_to_be_stale(shop: Pretence, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Sequence[RefreshResult]:
        raise StorageError("no space left")

    monkeypatch.setattr(Workers, "_refresh", fail)
    per = shop.stream("per", schedule="on_change")
    shop.stream("over", Dependency(per.stored, 77, ("id",), ""), schedule="on_change", target_lag="200ms")
    with shop.running():
        shop.change()
        wait(lambda: "stale" in shop.kinds("over"))
    assert shop.kinds("over") == ["stale"]


def test_gates_are_told_of_when_they_close_and_when_they_open(shop: Pretence) -> None:
    shop.stream("per", schedule="on_change")
    with shop.running():
        shop.db.gate_source("orders")
        wait(lambda: shop.kinds("orders") == ["gated"])
        shop.db.gate_source("orders")
        shop.db.ungate_source("orders")
        wait(lambda: shop.kinds("orders") == ["gated", "ungated"])


def test_a_table_without_a_differential_form_does_not_fall_back_it_is_full(
    shop: Pretence, monkeypatch: pytest.MonkeyPatch
) -> None:
    reasons = {"per": "change_ratio", "never": "not_incremental:rand()"}

    def whole(workers: Workers, tables: Sequence[StreamTable], target: int) -> Sequence[RefreshResult]:
        return [replace(r, action="FULL", reason=reasons[r.name]) for r in moved(workers, tables, target)]

    monkeypatch.setattr(Workers, "_refresh", whole)
    for name in reasons:
        shop.stream(name, schedule="on_change")
    shop.change()
    shop.until_idle()
    assert [event.name for event in shop.told if event.kind == "mode_fallback"] == ["per"]


# A fuse that is mended.


def test_a_fuse_is_mended_and_its_changes_skipped_at_once_or_not_at_all(
    shop: Pretence, monkeypatch: pytest.MonkeyPatch
) -> None:
    per = shop.stream("per", schedule="on_change", fuse="on", fuse_ceiling=1)
    shop.blow(per)
    before = shop.frontier(per)
    shop.change()

    def fail(*_: object) -> None:
        raise StorageError("no space left")

    with monkeypatch.context() as broken:
        broken.setattr(fuse, "_skip", fail)
        with pytest.raises(StorageError):
            shop.db.reset_fuse("per", "skip_changes")
    assert shop.db.fuse_status("per")[0].state == "blown"
    assert shop.frontier(per) == before
    shop.db.reset_fuse("per", "skip_changes")
    assert (shop.frontier(per), shop.db.fuse_status("per")[0].state) == (shop.db.head(), "armed")


def test_a_table_that_starts_anew_does_so_when_its_changes_are_skipped(shop: Pretence) -> None:
    per = shop.stream("per", fuse="on", fuse_ceiling=1)
    shop.blow(per)
    with shop.db.lake.catalog.writing() as connection:
        shop.db._streams.registry.mark(connection, per, pending="query_changed")
    shop.db.reset_fuse("per", "skip_changes")
    assert [t.pending for t in shop.db._streams.all()] == ["query_changed"]
