"""Who is at work on a lake: a scheduler says that it is, and takes over from those that died."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row

from ..ops.streams import Streams
from ..registry.scheduling import Scheduling
from ..registry.tables import aware
from .workers import Key


class Presence:
    def __init__(self, streams: Streams, owner: str, lease_seconds: float) -> None:
        self.streams, self.owner, self.lease_seconds = streams, owner, lease_seconds
        self.scheduling = Scheduling(streams.registry)

    def arrive(self) -> None:
        with self.streams.lake.catalog.writing() as connection:
            self._register(connection, datetime.now(UTC))

    def renew(self, running: Iterable[Key]) -> None:
        """Leases last longer; who was swept away meanwhile is there again, at what nobody else has taken since."""
        now = datetime.now(UTC)
        with self.streams.lake.catalog.writing() as connection:
            if not self.scheduling.renew(connection, self.owner, now, self.lease_seconds):
                self._register(connection, now)
                for key in running:
                    self.scheduling.lease(connection, key, self.owner, now, self.lease_seconds)

    def leave(self) -> None:
        with self.streams.lake.catalog.writing() as connection:
            self.scheduling.leave(connection, self.owner)

    def sweep(self) -> None:
        """Take over from schedulers that died: here by their process, elsewhere by their silence."""
        with self.streams.lake.reading() as connection:
            gone = self._gone(connection)
        if gone:
            with self.streams.lake.catalog.writing() as connection:
                for owner in self._gone(connection):  # again: they may have said something meanwhile
                    self.scheduling.leave(connection, owner)

    def _register(self, connection: Connection, now: datetime) -> None:
        process = os.getpid()
        self.scheduling.arrive(connection, self.owner, f"{here()} {began(process)}", process, now)

    def _gone(self, connection: Connection) -> list[str]:
        silence = datetime.now(UTC) - timedelta(seconds=self.lease_seconds)
        known = self.scheduling.schedulers(connection)
        return [row.owner for row in known if row.owner != self.owner and _is_gone(row, silence)]


def _is_gone(row: Row[Any], silence: datetime) -> bool:
    if aware(row.seen_at) < silence:
        return True
    there, _, since = row.host.rpartition(" ")
    return bool(there) and there == here() and _is_ended(row.process, since)


@cache
def here() -> str:
    """Where a process number means the same process: the machine since it was started, and the container on it.

    Two containers may have one name. Empty where this cannot be told, and then only silence counts.
    """
    try:
        started = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{socket.gethostname()} {started} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def began(process: int) -> str:
    """When a process was begun, in ticks since the machine was: numbers are given again. Empty if it is not seen."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""


def _is_ended(process: int, since: str) -> bool:
    now = began(process)
    return now != since if now else not _lives(process)


def _lives(process: int) -> bool:
    """Also of a process that is hidden because it is somebody else's."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
