"""The functions that say how a lake is doing, as methods of a session."""

from __future__ import annotations

from .metrics.exporter import Exporter
from .ops import health, usage
from .ops.overview import Overview
from .ops.streams import Streams
from .records import Records
from .sql.parse import table_name


class HealthMethods:
    """Mixed into `Session`; none of them needs Spark."""

    @property
    def _streams(self) -> Streams:
        raise NotImplementedError

    def overview(self) -> Overview:
        """How the lake and each stream table stand at this moment: what checks, metrics and pages are made of."""
        return Overview.read(self._streams, self._streams.lake.settings["scheduler.lease_seconds"])

    def health_check(self) -> Records[health.HealthCheck]:
        """What was checked, what is wrong, and what to do: catalog, scheduler, errors, fuses, holds, lag.

        [(c.check, c.detail, c.remedy) for c in db.health_check() if c.status != "ok"]
        """
        return health.health_check(self.overview())

    def quick_health(self) -> health.QuickHealth:
        """The same in one record: the worst status, and how many stream tables are in which state.

        assert db.quick_health().status != "critical"
        """
        return health.quick_health(self.overview())

    def metrics_summary(self, hours: float = 24.0) -> usage.MetricsSummary:
        """What the refreshes of the last hours did, all stream tables together: how many, how long, how many rows."""
        return usage.metrics_summary(self._streams, hours)

    def refresh_metrics(self, name: str | None = None, hours: float = 24.0) -> Records[usage.RefreshMetrics]:
        """The same for each stream table, or one of them."""
        return usage.refresh_metrics(self._streams, table_name(name) if name else None, hours)

    def change_stats(self, source: str | None = None, hours: float = 24.0) -> Records[usage.ChangeStats]:
        """How often each source changed, who reads it, and how many changed rows are still to be taken in."""
        return usage.change_stats(self._streams, source, hours)

    def metrics(self) -> str:
        """Every metric as Prometheus reads them; counters over the history that is kept."""
        exporter = Exporter(self._streams, from_start=True)
        try:
            return exporter.text().decode()
        finally:
            exporter.close()
