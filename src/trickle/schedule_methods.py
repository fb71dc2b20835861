"""The functions around the scheduler, as methods of a session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from .events import Courier, Events, Subscriber, Webhook
from .metrics.spans import Spans
from .ops import clustering, control, diagnose, fuse, gates, lineage, recommend
from .ops import graph as graphs
from .ops import refresh_groups as groups
from .ops import watermarks as marks
from .ops.streams import Streams
from .records import Records
from .scheduler.loop import Scheduler
from .scheduler.notify import Notify
from .sql.parse import table_name

if TYPE_CHECKING:
    from .config import Settings


class ScheduleMethods:
    """Mixed into `Session`."""

    events: Events

    @property
    def _streams(self) -> Streams:
        raise NotImplementedError

    @property
    def settings(self) -> Settings:
        raise NotImplementedError

    # The scheduler itself.

    def scheduler(self) -> Scheduler:
        """A scheduler of this lake: `run()` it here or in a thread, `stop()` it from anywhere."""
        return Scheduler(self._streams, self.events)

    def run(self, seconds: float | None = None, until_idle: bool = False) -> dict[str, str]:
        """Keep every stream table as fresh as its schedule says: for ever, for so many seconds, or until all are.

        What is held at the end is returned, by name, with the reason: gated, suspended, manual, …

        db.run(until_idle=True)
        """
        return self.run_scheduler(self.scheduler(), seconds, until_idle)

    def run_scheduler(
        self, scheduler: Scheduler, seconds: float | None = None, until_idle: bool = False
    ) -> dict[str, str]:
        """The same with a scheduler that somebody may stop; events also go to the settings' webhook and channel."""
        ends: list[Callable[[], None]] = []
        for courier in self._couriers():
            ends += [self.events.subscribe(courier), courier.close]
        if self.settings["events.spans"]:
            ends.append(self.events.subscribe(Spans()))
        try:
            return scheduler.run(seconds, until_idle)
        finally:
            for end in ends:
                end()

    def _couriers(self) -> Iterator[Courier]:
        url, channel, catalog = self.settings["events.webhook"], self.settings["events.channel"], self._streams.catalog
        if url:
            yield Webhook(url)
        if channel and not catalog.is_sqlite:
            yield Notify(catalog, channel)

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Tell a function of every event of the schedulers of this session; call what is returned to end that."""
        return self.events.subscribe(subscriber)

    def pause(self, name: str | None = None) -> None:
        """Keep the schedulers of the lake from starting refreshes: all, or those of one stream table."""
        control.hold(self._streams, table_name(name) if name else None)

    def resume(self, name: str | None = None) -> None:
        """Let them start again."""
        control.release(self._streams, table_name(name) if name else None)

    # What holds refreshes back.

    def gate_source(self, source: str) -> gates.GateRecord:
        """Hold the stream tables that read a source, while it is being loaded."""
        return gates.gate_source(self._streams, table_name(source))

    def ungate_source(self, source: str) -> gates.GateRecord:
        """Let them go on."""
        return gates.ungate_source(self._streams, table_name(source))

    def source_gates(self) -> Records[gates.GateRecord]:
        """The gates there are, open and closed."""
        return gates.source_gates(self._streams)

    def bootstrap_gate_status(self) -> Records[gates.GateStatus]:
        """The gates, how long each was closed, and which stream tables it holds."""
        return gates.bootstrap_gate_status(self._streams)

    def advance_watermark(self, source: str, watermark: datetime | str) -> marks.WatermarkRecord:
        """Say that a source is complete up to a time; it never goes back."""
        return marks.advance_watermark(self._streams, table_name(source), watermark)

    def watermarks(self) -> Records[marks.WatermarkRecord]:
        """How far each source says it is complete."""
        return marks.watermarks(self._streams)

    def create_watermark_group(
        self, name: str, sources: list[str] | str, tolerance: str | float = 0
    ) -> marks.WatermarkGroupRecord:
        """Stream tables that read two of the sources wait while their watermarks lie further apart than this."""
        return marks.create_watermark_group(self._streams, name, sources, tolerance)

    def drop_watermark_group(self, name: str) -> None:
        """Nobody waits for its sources to agree any more."""
        marks.drop_watermark_group(self._streams, name)

    def watermark_groups(self) -> Records[marks.WatermarkGroupRecord]:
        """The groups, with their sources and tolerances."""
        return marks.watermark_groups(self._streams)

    def watermark_status(self) -> Records[marks.WatermarkStatus]:
        """Whether the sources of each group agree, and how far they lie apart."""
        return marks.watermark_status(self._streams)

    def fuse_status(self, name: str | None = None) -> Records[fuse.FuseRecord]:
        """The fuses: armed, blown or off, and the most changed rows that each lets through."""
        return fuse.fuse_status(self._streams, table_name(name) if name else None)

    def reset_fuse(self, name: str, action: str = "apply") -> fuse.FuseRecord:
        """Mend a blown fuse: `apply` the changes, `reinitialize` the table, or `skip_changes` and lose them."""
        return fuse.reset_fuse(self._streams, table_name(name), action)

    # What belongs together.

    def create_refresh_group(self, name: str, members: list[str] | str) -> groups.RefreshGroupRecord:
        """Name stream tables that schedulers always commit together."""
        return groups.create_refresh_group(self._streams, name, members)

    def drop_refresh_group(self, name: str) -> None:
        """Its members are committed one by one again."""
        groups.drop_refresh_group(self._streams, name)

    def refresh_groups(self) -> Records[groups.RefreshGroupRecord]:
        """The groups and their members."""
        return groups.refresh_groups(self._streams)

    def graph(self, format: str = "text") -> str:
        """What reads what: as text, mermaid, dot or json."""
        return graphs.graph(self._streams, format)

    def dependency_tree(self, name: str) -> Records[graphs.TreeRecord]:
        """A stream table and everything it reads, one line each, depth first."""
        return graphs.dependency_tree(self._streams, table_name(name))

    def column_lineage(self, name: str) -> Records[lineage.ColumnOrigin]:
        """Which columns of its sources the values of each column of a stream table are made of."""
        return lineage.column_lineage(self._streams, table_name(name))

    # What the history says.

    def recommend_schedule(self, name: str) -> Records[recommend.ScheduleRecommendation]:
        """The schedule that a stream table's history recommends, and how sure that is."""
        return recommend.recommend_schedule(self._streams, table_name(name))

    def recommend_clustering(self, name: str | None = None) -> Records[clustering.ClusteringRecommendation]:
        """Which keys sources should be clustered by: those that all stream tables, or one, look them up by."""
        return clustering.recommend_clustering(self._streams, table_name(name) if name else None)

    def schedule_recommendations(self) -> Records[recommend.ScheduleRecommendation]:
        """The same for every stream table."""
        return recommend.schedule_recommendations(self._streams)

    def recommend_refresh_mode(self, name: str | None = None) -> Records[recommend.ModeRecommendation]:
        """The refresh mode that the history recommends, and how sure that is."""
        return recommend.recommend_refresh_mode(self._streams, table_name(name) if name else None)

    def diagnose_errors(self, name: str | None = None) -> Records[diagnose.Diagnosis]:
        """Stream tables that fail, are suspended or are held: why, and what to do."""
        return diagnose.diagnose_errors(self._streams, table_name(name) if name else None)
