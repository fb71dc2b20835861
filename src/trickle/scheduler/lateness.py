"""Which stream tables lag further behind than their target_lag: told once, until they are within it again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from ..events import Events, Stale
from ..ops.lag import lags
from ..ops.streams import Streams
from ..registry.models import StreamTable
from ..schedules import read_duration
from .pacing import Due
from .survey import Sight


@dataclass
class Lateness:
    streams: Streams
    events: Events
    late: set[int] = field(default_factory=set)
    """Those that were told of, by id."""
    _looks: Due = field(default_factory=lambda: Due(1.0))

    def note(self, sight: Sight, fresh: Collection[int]) -> None:
        """The lag is the catalog's, from the oldest commit that is not shown on: retries and restarts do not end it.

        Whoever is not fresh may be late, also if nothing came to it yet: what it reads may be stuck.
        """
        tables = _with_target(sight, fresh)
        self.late &= tables.keys()
        if not tables or not self._looks.now():
            return
        for id, lag in self.lags(sight, tables).items():
            target = read_duration(tables[id].options["target_lag"])
            if lag is None or lag <= target:
                self.late.discard(id)
            elif id not in self.late:
                self.late.add(id)
                self.events.tell(Stale(tables[id].label, lag, target))

    def lags(self, sight: Sight, tables: Mapping[int, StreamTable]) -> dict[int, float | None]:
        known = list(sight.layout.tables.values())
        with self.streams.lake.reading() as connection:
            return lags(self.streams, connection, list(tables.values()), known)


def _with_target(sight: Sight, fresh: Collection[int]) -> dict[int, StreamTable]:
    """The members of all other units that have a target, as far as they are now."""
    ids = [m.id for place, unit in enumerate(sight.layout.units) if place not in fresh for m in unit.members]
    tables = [sight.layout.tables[id] for id in ids if sight.layout.tables[id].options.get("target_lag")]
    return {t.id: replace(t, frontier=sight.standings[t.id].frontier) for t in tables}
