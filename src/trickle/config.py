"""Settings: one table from which the docs, `--set`, `trickle.toml` and `settings=` all come.

>>> Settings.of({"lake.small_write_rows": 100})["lake.small_write_rows"]
100
>>> Settings.of({"lake.small_write_row": 100})
Traceback (most recent call last):
...
trickle.errors.ConfigError: unknown setting "lake.small_write_row"
hint: did you mean "lake.small_write_rows"? `trickle settings` lists them all.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .errors import ConfigError


@dataclass(frozen=True)
class Setting:
    name: str
    default: Any
    meaning: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()

    @property
    def type(self) -> type:
        return type(self.default)

    @property
    def range(self) -> str:
        if self.choices:
            return ", ".join(self.choices)
        if self.low is None and self.high is None:
            return ""
        return f"{_bound(self.low)} … {_bound(self.high)}"

    def read(self, value: Any) -> Any:
        """The value in the setting's type and range, or a `ConfigError`."""
        typed = self._typed(value)
        if self.choices and typed not in self.choices:
            raise self._refused(value, f"one of {', '.join(self.choices)}")
        # NaN is neither below nor above anything.
        low_enough = self.high is None or typed <= self.high
        high_enough = self.low is None or typed >= self.low
        if not (low_enough and high_enough):
            raise self._refused(value, f"within {self.range}")
        return typed

    def _typed(self, value: Any) -> Any:
        if self.type is bool and isinstance(value, str):
            if value.lower() not in ("true", "false"):
                raise self._refused(value, "true or false")
            return value.lower() == "true"
        if isinstance(value, bool) and self.type is not bool:
            raise self._refused(value, f"of type {self.type.__name__}")
        try:
            typed = self.type(value)
        except (TypeError, ValueError):
            raise self._refused(value, f"of type {self.type.__name__}") from None
        if self.type is int and isinstance(value, float) and typed != value:
            raise self._refused(value, "a whole number")
        return typed

    def _refused(self, value: Any, wanted: str) -> ConfigError:
        return ConfigError(
            f'setting "{self.name}" cannot be {value!r}', detail=self.meaning, hint=f"it must be {wanted}."
        )


def _bound(value: float | None) -> str:
    return "any" if value is None else f"{value:,}"


SETTINGS: tuple[Setting, ...] = (
    Setting("spark.master", "local[*]", "Spark master of a session that Trickle starts itself."),
    Setting("spark.driver_memory", "2g", "Heap of the driver of a session that Trickle starts itself."),
    Setting(
        "spark.shuffle_partitions",
        0,
        "Shuffle partitions of that session; 0: the number of cores.",
        0,
        100000,
    ),
    Setting(
        "spark.scheduler_mode",
        "FAIR",
        "How refreshes at the same time share that session: FAIR, or FIFO: what came first goes first.",
        choices=("FAIR", "FIFO"),
    ),
    Setting("catalog.schema", "public", "PostgreSQL schema that holds the catalog's tables."),
    Setting("catalog.lock_timeout_seconds", 30.0, "How long a commit waits for the catalog's lock.", 0.1, 3600),
    Setting(
        "lake.small_write_rows",
        20_000,
        "Writes of at most so many local rows are done by the driver.",
        0,
        10_000_000,
    ),
    Setting(
        "lake.small_delete_rows",
        1_000_000,
        "Deletes of at most so many rows are collected by the driver.",
        0,
        50_000_000,
    ),
    Setting(
        "lake.small_delete_files",
        256,
        "Delete files read by the driver in one scan; more are read by Spark.",
        0,
        100_000,
    ),
    Setting(
        "lake.driver_read_mb",
        64,
        "Changes of at most this size (compressed, the columns in question) are read by the driver; 0: all by Spark.",
        0,
        4096,
    ),
    Setting(
        "lake.driver_cache_mb",
        1024,
        "What the driver read (columns, changes, small tables, footers), kept for who asks next; 0: little.",
        0,
        1_048_576,
    ),
    Setting("lake.target_file_mb", 256, "Size that merged and clustered files aim for.", 1, 16384),
    Setting(
        "lake.row_group_rows",
        131_072,
        "Rows of a row group in data files: the fewer, the less is read to find a key.",
        1024,
        100_000_000,
    ),
    Setting("lake.commit_retries", 20, "How often a statement is tried again after losing a race.", 0, 1000),
    Setting("lake.compression", "zstd", "Codec of the Parquet files.", choices=("zstd", "snappy", "gzip", "none")),
    Setting("maintenance.small_file_mb", 32, "Files below this size are merged with their neighbours.", 1, 16384),
    Setting(
        "maintenance.delete_ratio",
        0.1,
        "Files with more than this share of deleted rows are rewritten.",
        0.0,
        1.0,
    ),
    Setting(
        "maintenance.automatic",
        "stored",
        "What is maintained after refreshes: the tables that stream tables are stored in, all (sources too), or off.",
        choices=("off", "stored", "all"),
    ),
    Setting(
        "maintenance.every_refreshes",
        10,
        "Refreshes of a stream table between two looks at whether maintenance pays.",
        1,
        1_000_000,
    ),
    Setting(
        "maintenance.payback",
        1.0,
        "It runs once its absence has cost refreshes so many times what it costs: the more, the rarer.",
        0.0,
        1000.0,
    ),
    Setting(
        "maintenance.keep_snapshots",
        0,
        "After refreshes, all but so many snapshots expire; never what a frontier needs. 0: none by their number.",
        0,
        1_000_000_000,
    ),
    Setting(
        "maintenance.keep_days",
        0.0,
        "After refreshes, older snapshots expire; with both settings, those that both let go. 0: none by age.",
        0,
        36_500,
    ),
    Setting(
        "maintenance.cluster_sources",
        False,
        "Whether sources without cluster keys are clustered after refreshes as recommend_clustering says.",
    ),
    Setting(
        "maintenance.grace_seconds",
        86_400.0,
        "Unreferenced files younger than this are never removed.",
        0,
        31_536_000,
    ),
    Setting(
        "refresh.small_result_rows",
        250_000,
        "Refresh results of at most so many rows are written by the driver, larger ones by Spark.",
        0,
        10_000_000,
    ),
    Setting(
        "refresh.replace_share",
        0.8,
        "Files that lose more than this share of their rows to refreshes are written anew where that costs less, "
        "and small ones together; at 1 none is.",
        0.0,
        1.0,
    ),
    Setting(
        "refresh.intermediate_rows",
        100_000,
        "Rows of its sources from which on an operator below others is stored, for option intermediates = 'auto'.",
        0,
        1_000_000_000_000,
    ),
    Setting(
        "refresh.standing_plans",
        True,
        "Whether statements of small refreshes that come again and again are run without planning and without a Spark "
        "job.",
    ),
    Setting(
        "refresh.standing_rows",
        2_000_000,
        "Rows up to which such a statement is gone through by one thread of the driver; more, by Spark's tasks.",
        0,
        100_000_000,
    ),
    Setting(
        "refresh.rely_on_keys",
        True,
        "Whether refreshes leave out what keys declared with RELY make empty.",
    ),
    Setting(
        "refresh.workers",
        0,
        "Refreshes that refresh_all runs at the same time; 0: the number of cores, at most 4; 1: one by one.",
        0,
        256,
    ),
    Setting("refresh.grouping_sets", 64, "Grouping sets that a differential query may have.", 1, 4096),
    Setting("refresh.recursion_depth", 1000, "Rounds after which a recursive query is given up.", 1, 1_000_000),
    Setting(
        "refresh.recursion_rows",
        10_000_000,
        "Rows beyond which a recursive query is given up.",
        1,
        100_000_000_000,
    ),
    Setting(
        "scheduler.default_schedule", "1s", "Schedule of a table with schedule = 'calculated' that nobody else reads."
    ),
    Setting("scheduler.workers", 4, "Refreshes that run at the same time.", 1, 256),
    Setting(
        "scheduler.poll_ms",
        50.0,
        "How often a sleeping scheduler looks for commits; half as often after 10 s of calm.",
        5,
        60_000,
    ),
    Setting("scheduler.lease_seconds", 15.0, "After so long without a sign a scheduler's work is taken over.", 1, 3600),
    Setting("scheduler.drain_seconds", 300.0, "How long a scheduler that ends waits for running refreshes.", 0, 86_400),
    Setting("scheduler.errors_to_suspend", 3, "Errors in a row after which a stream table is suspended.", 1, 1000),
    Setting("scheduler.retry_seconds", 1.0, "Wait after a first error; it doubles with each further one.", 0.01, 3600),
    Setting("scheduler.retry_cap_seconds", 300.0, "The longest such wait.", 0.01, 86_400),
    Setting("scheduler.history_days", 30.0, "History older than this is forgotten.", 0.01, 36_500),
    Setting(
        "scheduler.watermark_stuck_seconds",
        600.0,
        "After so long a table that waits for watermarks is told of.",
        0.1,
        31_536_000,
    ),
    Setting("scheduler.minimum_samples", 10, "Refreshes in the history before a recommendation is made.", 2, 1000),
    Setting("events.webhook", "", "A URL to which a scheduler posts every event."),
    Setting(
        "events.channel", "trickle", "NOTIFY channel for events of a scheduler on a PostgreSQL catalog; empty: none."
    ),
    Setting("events.spans", False, "Whether a scheduler gives its refreshes to OpenTelemetry, as spans."),
    Setting("web.host", "127.0.0.1", "Where `trickle run --web` listens; beyond this machine it wants web.token."),
    Setting("web.port", 8642, "The port it listens on; 0: any that is free.", 0, 65535),
    Setting("web.token", "", "What readers of its pages and metrics have to show; empty: nothing on this machine."),
    Setting("streams.allow_circular", False, "Whether stream tables may read one another in a circle."),
    Setting("streams.fixpoint_rounds", 100, "Rounds after which the refresh of a circle is given up.", 1, 1_000_000),
)
_BY_NAME = {s.name: s for s in SETTINGS}


class Settings(Mapping[str, Any]):
    """All settings with their values: defaults, then `trickle.toml`, then what the caller said."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)

    @classmethod
    def of(cls, *layers: Mapping[str, Any]) -> Settings:
        values = {s.name: s.default for s in SETTINGS}
        for layer in layers:
            values.update({name: lookup(name).read(value) for name, value in layer.items()})
        return cls(values)

    def __getitem__(self, name: str) -> Any:
        return self._values[lookup(name).name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def lookup(name: str) -> Setting:
    """The setting of that name, or a `ConfigError` with the nearest one."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    near = difflib.get_close_matches(name, _BY_NAME, n=1)
    guess = f'did you mean "{near[0]}"? ' if near else ""
    raise ConfigError(f'unknown setting "{name}"', hint=f"{guess}`trickle settings` lists them all.")
