"""All schedulers of a lake told to wait, or to go on."""

from __future__ import annotations

from datetime import UTC, datetime

from ..registry.scheduling import Scheduling
from .streams import Streams

PAUSED = "paused"


def pause(streams: Streams) -> None:
    """Idempotent; what is running ends as usual."""
    _set(streams, datetime.now(UTC).isoformat())


def resume(streams: Streams) -> None:
    _set(streams, None)


def _set(streams: Streams, value: str | None) -> None:
    streams.migrate()
    scheduling = Scheduling(streams.registry)
    with streams.lake.catalog.writing() as connection:
        scheduling.set_control(connection, PAUSED, value)
        scheduling.signal(connection)
