"""Who reads stream tables through Trickle, and when: what `tier = 'auto'` learns from."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from ..errors import TrickleError
from ..lake.model import Table
from ..refresh.sources import STORED_SCHEMA
from ..registry.scheduling import Scheduling
from .streams import Streams

EVERY = 60.0
"""Seconds between two notes in the registry: reading must not become writing."""


@dataclass
class Reads:
    streams: Streams
    _waiting: dict[str, datetime] = field(default_factory=dict)
    _noted: float = float("-inf")
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, table: Table) -> None:
        """A table is about to be read; of stream tables that is remembered."""
        if table.schema != STORED_SCHEMA:
            return
        with self._lock:
            self._waiting[table.name] = datetime.now(UTC)
            if time.monotonic() - self._noted < EVERY:
                return
            self._noted = time.monotonic()
            waiting, self._waiting = self._waiting, {}
        self.note(waiting)

    def close(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, {}
        self.note(waiting)

    def note(self, waiting: dict[str, datetime]) -> None:
        """Into the registry, unless that is an older one or cannot be written."""
        if not waiting:
            return
        with suppress(TrickleError):
            learns = {t.stored_name: t.id for t in self.streams.all() if t.options.get("tier") == "auto"}
            known = {learns[name]: at for name, at in waiting.items() if name in learns}
            if known:
                with self.streams.lake.catalog.writing() as connection:
                    Scheduling(self.streams.registry).note_reads(connection, known)
