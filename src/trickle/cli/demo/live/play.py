"""The live demo at work: the shop in one thread, the scheduler in another, proofs in a third, the view in this one."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle
from random import Random
from typing import TYPE_CHECKING

from ....errors import CommitConflict, TrickleError
from .proof import prove
from .score import Arrived, Happening, Score, Summary, Trouble
from .shop import KEPT, TABLES, customers, first_rows
from .traffic import Traffic, told
from .view import View

if TYPE_CHECKING:
    from ....session import Session

Connect = Callable[[], "Session"]
PAUSE = 0.5
"""Seconds between two transactions of the shop."""
REST = 2.0
"""Seconds between two proofs, at least; three quarters of the time are not spent on them."""
SCHEDULE = "on_change"


@dataclass
class Play:
    """One performance."""

    connect: Connect
    """Another session on the same lake: each thread has its own."""
    lake: str
    orders: int
    seconds: float
    seed: int
    view: View
    happenings: queue.SimpleQueue[Happening] = field(default_factory=queue.SimpleQueue)
    stopping: threading.Event = field(default_factory=threading.Event)
    score: Score = field(default_factory=lambda: Score([k.name for k in KEPT]))

    def perform(self, db: Session) -> Summary:
        """Set up, play until the time is over or Ctrl-C, prove every table once more, sum up."""
        open_shop(db, self.orders, self.seed, self.view.note)
        for n, kept in enumerate(KEPT, 1):
            self.view.note(f"Stream table {n} of {len(KEPT)}: {kept.name}, {kept.about} …")
            db.create_stream_table(kept.name, kept.query, schedule=SCHEDULE, refresh_mode="DIFFERENTIAL")
        traffic = Traffic(Random(self.seed), customers(self.orders), self.orders, self.orders * 2)
        self.view.note("Rehearsing: Spark compiles each query once …")
        self._happen(db, traffic)
        db.refresh_all()
        self.view.note(f"The shop is open for {self.seconds:.0f} s; Ctrl-C closes it earlier.")
        took = self._play(db, traffic)
        self.view.note("Proving each of them once more …")
        for kept in KEPT:
            self._hear(prove(db, kept.name, kept.query), took)
        return self.score.summary(self.lake, took)

    def _play(self, db: Session, traffic: Traffic) -> float:
        """Everybody at work at once; how long it took."""
        scheduler = db.scheduler()
        parts: dict[str, Callable[[], object]] = {
            "scheduler": lambda: db.run_scheduler(scheduler),
            "shop": lambda: self._trade(traffic),
            "proofs": self._prove,
        }
        threads = [threading.Thread(target=self._safely, args=part, daemon=True) for part in parts.items()]
        unsubscribe = db.subscribe(self.happenings.put)
        started = time.monotonic()
        for thread in threads:
            thread.start()
        with self.view.playing(self.score, self.seconds):
            with suppress(KeyboardInterrupt):
                self._watch(started, lambda: time.monotonic() - started < self.seconds)
            self.stopping.set()
            scheduler.stop()
            self._watch(started, lambda: any(t.is_alive() for t in threads))
            self._turn(started)
        unsubscribe()
        return time.monotonic() - started

    def _watch(self, started: float, goes_on: Callable[[], bool]) -> None:
        """Show what happens, as it happens."""
        while goes_on():
            self._turn(started)
            time.sleep(0.1)

    def _turn(self, started: float) -> None:
        at = time.monotonic() - started
        with suppress(queue.Empty):
            while True:
                self._hear(self.happenings.get_nowait(), at)
        self.view.turn(at)

    def _hear(self, happening: Happening, at: float) -> None:
        self.score.hear(happening)
        self.view.happened(happening, at)

    def _safely(self, part: str, work: Callable[[], object]) -> None:
        try:
            work()
        except TrickleError as error:
            self.happenings.put(Trouble(part, error.message))

    def _trade(self, traffic: Traffic) -> None:
        """The shop's own writer: one transaction after the other."""
        with self.connect() as db:
            while not self.stopping.wait(PAUSE):
                self._happen(db, traffic)

    def _happen(self, db: Session, traffic: Traffic) -> None:
        deeds = traffic.transaction()
        try:
            with db.transaction():
                for deed in deeds:
                    db.append(deed.table, list(deed.rows)) if deed.rows else db.sql(deed.statement)
        except CommitConflict:
            return  # another writer was first; the shop has plenty of other things to do
        self.happenings.put(Arrived(db.head(), told(deeds)))

    def _prove(self) -> None:
        """Now and then one of them, in turn, beside what a full computation says."""
        rest = REST
        with self.connect() as db:
            for kept in cycle(KEPT):
                if self.stopping.wait(rest):
                    return
                began = time.monotonic()
                self.happenings.put(prove(db, kept.name, kept.query))
                rest = max(REST, 3 * (time.monotonic() - began))


def open_shop(db: Session, orders: int, seed: int, note: Callable[[str], None]) -> None:
    """The four tables, filled."""
    note(f"Opening a shop with {orders:,} orders and {2 * orders:,} clicks …")
    for statement in TABLES:
        db.sql(statement)
    with db.transaction():
        for name, rows in first_rows(orders, seed).items():
            db.append(name, rows)
