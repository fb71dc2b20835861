"""Old snapshots and the files that nobody needs any more, let go between refreshes as the settings say."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, select

from ..lake import snapshots
from ..lake.maintenance.expire import Expired, expire_snapshots
from ..lake.maintenance.orphans import clean_files
from .streams import Streams

SLACK = 1.25
"""How many times the snapshots that are to be kept there may be before some go: to let many go costs as much as one."""
LONGEST = 600.0
"""Seconds between two looks for files that are due for removal."""


@dataclass
class Tidying:
    """Remembers when files were last looked for."""

    streams: Streams
    _cleaned: float = float("-inf")

    def expire(self, now: datetime) -> list[Expired]:
        """The snapshots that the settings let go; never what a frontier or a pin needs."""
        settings = self.streams.lake.settings
        keep, days = int(settings["maintenance.keep_snapshots"]), float(settings["maintenance.keep_days"])
        older_than = now - timedelta(days=days) if days else None
        if not self._has_many(keep) or not self._has_old(older_than):
            return []
        needed = self.streams.needed
        return list(expire_snapshots(self.streams.lake, keep or None, older_than, None, False, needed))

    def _has_many(self, keep: int) -> bool:
        if not keep:
            return bool(self.streams.lake.settings["maintenance.keep_days"])
        with self.streams.reading() as connection:
            many = connection.execute(select(func.count()).select_from(self.streams.catalog.tables["snapshot"]))
            return int(many.scalar_one()) > SLACK * keep

    def _has_old(self, older_than: datetime | None) -> bool:
        if older_than is None:
            return True
        with self.streams.reading() as connection:
            oldest = snapshots.oldest(self.streams.catalog, connection)
            return snapshots.at(self.streams.catalog, connection, oldest).time < older_than

    def clean(self) -> None:
        """Remove files that the catalog noted for removal, after the grace period."""
        grace = float(self.streams.lake.settings["maintenance.grace_seconds"])
        if time.monotonic() - self._cleaned >= min(grace, LONGEST):
            self._cleaned = time.monotonic()
            _exhaust(clean_files(self.streams.lake, None, False))


def _exhaust(work: Iterable[object]) -> None:
    for _ in work:
        pass
