"""Stream tables that no scheduler refreshes while they are altered or dropped."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from ..errors import TrickleError
from ..registry.models import StreamTable
from ..registry.scheduling import Scheduling
from .ledger import Ledger

SECONDS = 15.0
"""Of a lease; it is renewed as long as the work lasts."""
PATIENCE = 60.0
"""The longest wait for refreshes that are running; whoever commits first has won then."""


@contextmanager
def exclusive(ledger: Ledger, tables: Sequence[StreamTable]) -> Iterator[None]:
    """Refreshes that are running are waited for; inside the block schedulers start none."""
    ledger.migrate()
    lease = _Lease(ledger, [t.id for t in tables], f"alter-{uuid.uuid4().hex}")
    until = time.monotonic() + PATIENCE
    while not lease.take() and time.monotonic() < until:
        time.sleep(0.05)
    ended = threading.Event()
    renewal = threading.Thread(target=lease.keep, args=(ended,), name="trickle lease", daemon=True)
    renewal.start()
    try:
        yield
    finally:
        ended.set()
        renewal.join()
        lease.give_back()


@dataclass(frozen=True)
class _Lease:
    ledger: Ledger
    ids: Sequence[int]
    owner: str

    def take(self) -> bool:
        with self.ledger.catalog.writing() as connection:
            return self.scheduling.lease(connection, self.ids, self.owner, datetime.now(UTC), SECONDS)

    def keep(self, ended: threading.Event) -> None:
        while not ended.wait(SECONDS / 3):
            with suppress(TrickleError), self.ledger.catalog.writing() as connection:
                self.scheduling.renew(connection, self.owner, datetime.now(UTC), SECONDS)

    def give_back(self) -> None:
        """What it kept waiting may go on at once."""
        with suppress(TrickleError), self.ledger.catalog.writing() as connection:
            self.scheduling.release(connection, None, self.owner)
            self.scheduling.signal(connection)

    @property
    def scheduling(self) -> Scheduling:
        return Scheduling(self.ledger.registry)
