"""Every metric: one table from which the exporter, the reference, and the check of alerts and dashboard all come."""

from __future__ import annotations

from dataclasses import dataclass

GAUGE, COUNTER, HISTOGRAM = "gauge", "counter", "histogram"


@dataclass(frozen=True)
class Metric:
    """
    >>> Metric("trickle_refreshes_total", COUNTER, "…").family
    'trickle_refreshes'
    """

    name: str
    kind: str
    meaning: str
    labels: tuple[str, ...] = ()

    @property
    def family(self) -> str:
        """Its name without what the format puts at the end."""
        return self.name.removesuffix("_total") if self.kind == COUNTER else self.name

    @property
    def series(self) -> tuple[str, ...]:
        """The names of its lines."""
        if self.kind == HISTOGRAM:
            return tuple(f"{self.name}_{part}" for part in ("bucket", "count", "sum"))
        return (self.name,)


TABLE = ("name",)
METRICS: tuple[Metric, ...] = (
    # From the history.
    Metric(
        "trickle_refreshes_total",
        COUNTER,
        "Refreshes, by what they did and why; the reason of an ordinary differential one is empty.",
        ("name", "action", "reason"),
    ),
    Metric("trickle_refresh_errors_total", COUNTER, "Refreshes that failed, by error code.", ("name", "code")),
    Metric(
        "trickle_refresh_duration_seconds", HISTOGRAM, "How long refreshes took that did not fail.", ("name", "action")
    ),
    Metric("trickle_rows_inserted_total", COUNTER, "Rows that refreshes added to a stream table.", TABLE),
    Metric("trickle_rows_deleted_total", COUNTER, "Rows that refreshes took out of a stream table.", TABLE),
    Metric("trickle_changed_rows_total", COUNTER, "Changed rows of its sources that went into a stream table.", TABLE),
    # As it stands.
    Metric(
        "trickle_lag_seconds",
        GAUGE,
        "How long the oldest change that a stream table does not show yet has waited; 0: it is fresh.",
        TABLE,
    ),
    Metric("trickle_target_lag_seconds", GAUGE, "The lag that its option target_lag allows.", TABLE),
    Metric("trickle_state", GAUGE, "1 for the state that a stream table is in, 0 for the others.", ("name", "state")),
    Metric(
        "trickle_errors_in_row", GAUGE, "Refreshes of a stream table that failed since the last that did not.", TABLE
    ),
    Metric("trickle_fuse_blown", GAUGE, "1 while its fuse stops a stream table; only of those that have one.", TABLE),
    Metric("trickle_held", GAUGE, "1 while a stream table is held back, by what.", ("name", "reason")),
    Metric("trickle_data_snapshot", GAUGE, "The lake snapshot that a stream table is exact for.", TABLE),
    Metric("trickle_last_refresh_timestamp_seconds", GAUGE, "When its last refresh ended, in Unix time.", TABLE),
    Metric("trickle_head_snapshot", GAUGE, "The newest snapshot of the lake."),
    Metric("trickle_stream_tables", GAUGE, "How many stream tables are in which state.", ("state",)),
    Metric("trickle_schedulers", GAUGE, "Schedulers of the lake that are alive."),
    Metric("trickle_paused", GAUGE, "1 while all refreshes are paused."),
    Metric("trickle_queue_depth", GAUGE, "Stream tables that lag behind and wait for a worker."),
    Metric("trickle_running", GAUGE, "Stream tables that are being refreshed, by any scheduler."),
    Metric(
        "trickle_catalog_up", GAUGE, "1 if the catalog answered, 0 if not; then the metrics of the lake are missing."
    ),
    # Of this process.
    Metric("trickle_workers", GAUGE, "Workers of this scheduler, busy and idle.", ("state",)),
    Metric("trickle_events_total", COUNTER, "Events that this scheduler told of.", ("kind",)),
    Metric("trickle_catalog_statement_seconds", HISTOGRAM, "How long statements on the catalog took."),
    Metric("trickle_build_info", GAUGE, "1, with the version.", ("version",)),
)
BY_NAME = {metric.name: metric for metric in METRICS}
