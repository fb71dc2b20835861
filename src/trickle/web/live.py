"""Tells browsers that something changed: server-sent events, sent when the registry is not as it was."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from ..errors import TrickleError
from ..lake import snapshots
from ..ops.streams import Streams
from ..registry.scheduling import Scheduling

LOOK, BREATH = 0.5, 15.0
"""Seconds between two looks, and between two signs of life."""


def pulse(streams: Streams) -> str:
    """Another text whenever a page would say something else, but for the time that passes."""
    registry, scheduling = streams.registry, Scheduling(streams.registry)
    with streams.lake.reading() as connection:
        seen: list[object] = [snapshots.head(streams.lake.catalog, connection).id, registry.newest_line(connection)]
        if registry.is_current(connection):
            seen.append(scheduling.signals(connection))
            seen += sorted(scheduling.leases(connection, datetime.now(UTC)))
            seen += [tuple(row) for row in scheduling.standings(connection)]
    return f"{hash(tuple(seen)) & 0xFFFFFFFF:08x}"


class Shared:
    """One look at the catalog for all who listen, however many browsers are open."""

    def __init__(self, read: Callable[[], str]) -> None:
        self.read = read
        self._lock = threading.Lock()
        self._text, self._until = "", 0.0

    def __call__(self) -> str:
        with self._lock:
            if time.monotonic() >= self._until:
                self._text = self._looked()
                self._until = time.monotonic() + LOOK
            return self._text

    def _looked(self) -> str:
        try:
            return self.read()
        except TrickleError:
            return "unreachable"


def messages(pulse: Callable[[], str], is_over: Callable[[float], bool]) -> Iterator[bytes]:
    """One when something changed, and a comment now and then; `is_over` waits, and says whether to end."""
    before, breath = "", time.monotonic()
    while True:
        now = pulse()
        if now != before:
            yield f"data: {now}\n\n".encode()
            before, breath = now, time.monotonic()
        elif time.monotonic() - breath > BREATH:
            yield b": still here\n\n"
            breath = time.monotonic()
        if is_over(LOOK):
            return
