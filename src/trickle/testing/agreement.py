"""What each engine says of a trial's lake, for every snapshot and every pair, against the chronicle."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from trickle.testing.duckdb_peer import quoted as text
from trickle.testing.rows import Rows, changes_of, rows_of
from trickle.testing.shapes import Shape, name
from trickle.testing.trial import Trial, quoted

TAG = "__tag"
MOST_IN_ONE_JOB = 20
FEED_WEIGHT = (
    "CASE change_type WHEN 'insert' THEN 1 WHEN 'update_postimage' THEN 1 "
    "WHEN 'delete' THEN -1 WHEN 'update_preimage' THEN -1 END AS __w"
)


@dataclass(frozen=True)
class Finding:
    """What an engine said, and what it should have said."""

    about: str
    expected: Rows
    found: Rows

    @property
    def error(self) -> str:
        """What is wrong, or nothing."""
        if self.expected.columns != self.found.columns:
            return f"{self.about}: columns {self.found.columns} instead of {self.expected.columns}"
        missing, extra = self.expected - self.found, self.found - self.expected
        return f"{self.about}: missing {_sample(missing)}, extra {_sample(extra)}" if missing.counts else ""


def errors(findings: Iterable[Finding]) -> list[str]:
    return [finding.error for finding in findings if finding.error]


def duckdb_states(trial: Trial) -> Iterator[Finding]:
    """Every table at every snapshot as DuckDB's time travel reads it."""
    wanted = list(trial.chronicle.tables())
    reads = [f"FROM {name(t.shape.name).duckdb} AT (VERSION => {snapshot})" for snapshot, t in wanted]
    results = trial.peer.run(trial.site.address, "BEGIN", *reads, "COMMIT")[1:-1]
    for (snapshot, table), result in zip(wanted, results, strict=True):
        yield Finding(f"DuckDB, {table.shape.name} at {snapshot}", table.rows, rows_of(result))


def trickle_states(trial: Trial) -> Iterator[Finding]:
    """Every table at every snapshot as Trickle reads it."""
    wanted = list(trial.chronicle.tables())
    frames = [(table.shape, trial.db.table(quoted(table.shape.name), at=at)) for at, table in wanted]
    for (snapshot, table), result in zip(wanted, collected(frames), strict=True):
        yield Finding(f"Trickle, {table.shape.name} at {snapshot}", table.rows, rows_of(result))


def trickle_changes(trial: Trial) -> Iterator[Finding]:
    """Every table's net change between every two snapshots as Trickle's feed tells it."""
    wanted = list(trial.chronicle.pairs())
    frames = [(shape, trial.db.changes(quoted(shape.name), start, end)) for start, end, shape, _ in wanted]
    for (start, end, shape, expected), result in zip(wanted, collected(frames), strict=True):
        yield Finding(f"Trickle, changes of {shape.name} in ({start}, {end}]", expected, changes_of(result))


def duckdb_changes(trial: Trial) -> Iterator[Finding]:
    """The same from DuckDB's feed, one call for each end: it names the snapshot of every change."""
    first = min(trial.chronicle.states)
    ends = [(end, table.shape) for end, table in trial.chronicle.tables() if end > first]
    reads = [
        f"SELECT * EXCLUDE (rowid, change_type), {FEED_WEIGHT} "
        f"FROM ducklake_table_changes('lake', 'main', {text(shape.name)}, {first + 1}, {end})"
        for end, shape in ends
    ]
    results = trial.peer.run(trial.site.address, "BEGIN", *reads, "COMMIT")[1:-1]
    feeds = {(end, shape.name): result for (end, shape), result in zip(ends, results, strict=True)}
    for start, end, shape, expected in trial.chronicle.pairs():
        feed = feeds[end, shape.name]
        part = feed.filter(pc.greater(feed["snapshot_id"], start)).drop_columns(["snapshot_id"])
        yield Finding(f"DuckDB, changes of {shape.name} in ({start}, {end}]", expected, changes_of(part))


def collected(frames: Sequence[tuple[Shape, DataFrame]]) -> list[pa.Table]:
    """Each frame's rows. Frames of one shape share a Spark job: a job costs more than so few rows."""
    groups: dict[Shape, list[int]] = defaultdict(list)
    for index, (shape, _) in enumerate(frames):
        groups[shape].append(index)
    results: dict[int, pa.Table] = {}
    for members in groups.values():
        for first in range(0, len(members), MOST_IN_ONE_JOB):
            chunk = members[first : first + MOST_IN_ONE_JOB]
            results.update(_collected_together({index: frames[index][1] for index in chunk}))
    return [results[index] for index in range(len(frames))]


def _collected_together(frames: dict[int, DataFrame]) -> dict[int, pa.Table]:
    tagged = [frame.withColumn(TAG, F.lit(index)) for index, frame in frames.items()]
    rows = reduce(DataFrame.unionAll, tagged).toArrow()
    return {index: rows.filter(pc.equal(rows[TAG], index)).drop_columns([TAG]) for index in frames}


def _sample(rows: Rows) -> str:
    shown = [f"{weight}×{row}" for row, weight in rows.counts.items() if weight > 0]
    return "; ".join(shown[:3]) + (" …" if len(shown) > 3 else "") if shown else "nothing"
