"""The live demo without its lake: what happens in the shop, how it is counted, shown and proven."""

from __future__ import annotations

import io
import signal
import threading
from datetime import UTC, datetime
from random import Random
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from rich.console import Console

from trickle.cli.demo.command import _next
from trickle.cli.demo.live.play import Play
from trickle.cli.demo.live.proof import Proof, as_of, differing
from trickle.cli.demo.live.score import Arrived, Score, Trouble
from trickle.cli.demo.live.shop import KEPT, customers, first_rows
from trickle.cli.demo.live.traffic import Traffic
from trickle.cli.demo.live.view import Lines, picture
from trickle.cli.output import TextOutput
from trickle.events import RefreshFailed, RefreshFinished
from trickle.sql.references import references

NOW = datetime(2024, 2, 29, 12, tzinfo=UTC)
NAMES = [k.name for k in KEPT]


def refreshed(name: str, action: str = "DIFFERENTIAL", took: float = 250.0) -> RefreshFinished:
    return RefreshFinished(name, action, "", 3, 2, took, 7, 8)


def played() -> Score:
    score = Score(NAMES)
    for name in NAMES:
        score.hear(refreshed(name))
        score.hear(Proof(name, 123456, 123457, 1_234_567, 0, 12_345.6))
    score.hear(Arrived(123456, "+3 orders, +6 clicks, 1 customer moved to another city far away from here " * 3))
    return score


def test_the_shop_begins_with_what_was_asked_for_and_the_same_each_time() -> None:
    rows, again = first_rows(500, 1, NOW), first_rows(500, 1, NOW)
    assert {name: t.num_rows for name, t in rows.items()} == {
        "customers": customers(500),
        "products": 60,
        "orders": 500,
        "clicks": 1000,
    }
    assert rows == again
    assert max(rows["orders"]["placed_at"].to_pylist()) <= NOW


def test_ids_are_given_out_once_and_customers_exist() -> None:
    traffic = Traffic(Random(3), 20, 100, 200)
    deeds = [deed for _ in range(300) for deed in traffic.transaction(NOW)]
    for table in ("orders", "clicks", "customers"):
        ids = [row["id"] for deed in deeds if deed.table == table for row in deed.rows]
        assert len(ids) == len(set(ids)) > 0
    assert all(1 <= r["customer_id"] <= traffic.customers for d in deeds if d.table == "orders" for r in d.rows)
    assert {d.statement.split()[0] for d in deeds if d.statement} == {"UPDATE", "DELETE"}


def test_refreshes_that_did_nothing_do_not_count() -> None:
    score = Score(NAMES)
    score.hear(refreshed("funnel"))
    score.hear(refreshed("funnel", "NO_DATA"))
    score.hear(refreshed("funnel", "FULL"))
    found = score.summary("lake", 60.0)
    assert (found.refreshes, found.differential, found.is_clean) == (2, 1, True)


@pytest.mark.parametrize(
    "wrong",
    [
        Proof("funnel", 7, 8, 5, 1, 900.0),
        RefreshFailed("funnel", "query_error", "a value does not fit", 1, None),
        Trouble("shop", "the disk is full"),
    ],
)
def test_a_mismatch_or_a_failure_spoils_it(wrong: Proof | RefreshFailed | Trouble) -> None:
    score = Score(NAMES)
    score.hear(wrong)
    assert not score.summary("lake", 60.0).is_clean


def test_the_picture_fits_80_columns_and_needs_no_colour() -> None:
    page = io.StringIO()
    Console(file=page, width=80, no_color=True, force_terminal=False).print(picture(played(), 12.0, 60.0))
    lines = page.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    text = page.getvalue()
    assert all(name in text for name in NAMES)
    assert "6 proofs, 0 mismatches" in text and "exact at 123456" in text and "12.3 s" in text


def test_lines_fit_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    view = Lines(TextOutput())
    for happening in (*played().arrived, refreshed("revenue_per_hour"), Proof("sessions", 1, 2, 3, 4, 5.0)):
        view.happened(happening, 3601.5)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 and max(map(len, lines)) <= 80
    assert "4 ROWS DIFFER" in lines[2]


@pytest.mark.parametrize("kept", KEPT, ids=lambda k: k.name)
def test_a_query_as_of_a_snapshot_reads_all_its_tables_there(kept: object) -> None:
    query = next(k.query for k in KEPT if k is kept)
    found = references(as_of(query, 42))
    assert found and all(r.as_of is not None for r in found)


def test_tables_are_compared_as_multisets() -> None:
    left = pa.table({"a": [1, 1, None], "b": ["x", "x", None]})
    assert differing(left, left.take([2, 0, 1])) == 0
    assert differing(left, left.slice(1)) == 1
    assert differing(left, pa.table({"a": [1, 2, None], "b": ["x", "x", None]})) == 2
    assert differing(left, left.rename_columns(["a", "c"])) == 6


def test_what_to_try_next_fits_eighty_columns_and_can_be_copied() -> None:
    shown = io.StringIO()
    wide = Console(file=shown, width=200, highlight=False)
    _next(TextOutput(wide), "trickle-demo", ["status", "run --web"], "top_sellers")
    lines = shown.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert "  ATTACH 'ducklake:sqlite:trickle-demo/catalog.sqlite' AS shop;" in lines


class Impatient(Lines):
    """Somebody who presses Ctrl-C as soon as there is something to see."""

    turns = 0

    def turn(self, at: float) -> None:
        self.turns += 1
        if self.turns == 2:
            signal.raise_signal(signal.SIGINT)


class Quiet(Play):
    """A play in which the shop and the proofs only wait for its end."""

    def _trade(self, traffic: Traffic) -> None:
        assert self.stopping.wait(30)

    def _prove(self) -> None:
        assert self.stopping.wait(30)


def test_ctrl_c_closes_the_shop_and_stops_the_scheduler() -> None:
    stopped, unsubscribed = threading.Event(), threading.Event()
    db: Any = SimpleNamespace(
        scheduler=lambda: SimpleNamespace(stop=stopped.set),
        run_scheduler=lambda scheduler: stopped.wait(30),
        subscribe=lambda hear: unsubscribed.set,
    )
    view = Impatient(TextOutput(Console(file=io.StringIO())))
    play = Quiet(lambda: db, "shop", 300, 600.0, 1, view)
    took = play._play(db, Traffic(Random(1), 10, 300, 600))
    assert took < 30 and stopped.is_set() and unsubscribed.is_set() and play.stopping.is_set()
