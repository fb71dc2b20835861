"""Units at work: their members refreshed together, all of them in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..lake.model import Snapshot
from ..refresh.result import RefreshResult
from ..refresh.together import refresh_together
from ..registry.models import SUSPENDED, StreamTable
from ..registry.scheduling import Scheduling
from ..registry.units import Units
from . import circles
from .streams import Streams
from .waves import Wave, carrier, workers


def refresh_unit(
    streams: Streams, unit: Sequence[StreamTable], target: Snapshot, full: bool, by: str
) -> list[RefreshResult]:
    """Bring its members to the target in one commit; a circle is brought to its fixpoint, which is one as well."""
    if len(unit) > 1 and not any(circles.of(streams, table) for table in unit):
        return refresh_together(streams.refresher, unit, target, by, full)
    done: dict[int, RefreshResult] = {}
    for table in unit:
        if table.id not in done:
            done |= streams.bring(streams.refresher.find(table.schema, table.name), target, full, by)
    return list(done.values())


def refresh_all(streams: Streams, full: bool = False, by: str = "user") -> list[RefreshResult]:
    """Every stream table, sources before readers, all at one data snapshot; what belongs together in one commit.

    Units that do not read each other are refreshed at the same time.
    """
    target = streams.lake.head()
    with streams.lake.reading() as connection:
        known = {t.stored: t for t in streams.registry.all(connection)}
        groups = Scheduling(streams.registry).refresh_groups(connection)
    stored = {t.label: t.stored for t in known.values()}
    units = Units.of(list(known.values()), [g.members for g in groups]).members
    awake = [unit for unit in units if not all(t.status == SUSPENDED for t in unit)]
    found: dict[int, list[RefreshResult]] = {}

    def prepare(part: int) -> Callable[[], list[RefreshResult]]:
        unit = awake[part]
        reachable = _reachable(streams, unit, known, target)
        return lambda: refresh_unit(streams, unit, reachable, full, by)

    def settle(part: int, done: list[RefreshResult]) -> None:
        found[part] = done
        for result in done:
            name = stored[result.name]
            known[name] = replace(known[name], frontier=result.data_snapshot)

    Wave(_sources(awake), prepare, settle).run(workers(streams.lake), carrier(streams.lake))
    return [result for part in sorted(found) for result in found[part]]


def _sources(units: Sequence[Sequence[StreamTable]]) -> list[frozenset[int]]:
    """For each unit the others that it reads."""
    place = {t.stored: n for n, unit in enumerate(units) for t in unit}
    return [
        frozenset(place[d.name] for t in unit for d in t.dependencies if d.name in place) - {n}
        for n, unit in enumerate(units)
    ]


def _reachable(
    streams: Streams, unit: Sequence[StreamTable], known: dict[str, StreamTable], target: Snapshot
) -> Snapshot:
    """The newest snapshot, not after the target, for which all is fresh that the unit reads from outside."""
    own = {t.stored for t in unit}
    outside = {d.name for t in unit for d in t.dependencies if d.is_stream_table} - own
    return streams.fresh_for(unit[0], [known[name] for name in sorted(outside & known.keys())], target)
