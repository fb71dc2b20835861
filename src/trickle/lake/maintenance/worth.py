"""Whether maintenance pays for itself: a pure decision, rent or buy.

Every refresh that reads a table pays rent for each file more than need be and for each deleted row that it reads
over; to have fewer of them costs much at once. A job is due as soon as refreshes have paid as much rent as it costs:
    rent = Σ ms(file) · refreshes since it came    over the files that go, the oldest left out
         + ms(deleted row) · refreshes since the first was deleted / 2    for they came little by little
Who does so never pays more than twice what somebody would who knew the future.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..model import DataFile

FILE_MS = 1.0
"""What one more file costs a reader."""
DELETED_MS = 0.0002
"""What a deleted row costs: read over, and named again in the next delete file."""
BY_DRIVER_MS, BY_SPARK_MS = 15.0, 250.0
"""What it costs to write a file and commit, before the first row."""
MB_MS = 40.0
"""What it costs to read, sort and write a megabyte."""
LOOKUP_MS = 1.0
"""What it costs to look for keys in a megabyte that is in no order."""


@dataclass(frozen=True)
class Job:
    """Files that would be written anew as fewer, without their deleted rows."""

    files: tuple[DataFile, ...]
    by_driver: bool

    @property
    def bytes(self) -> int:
        return sum(f.bytes for f in self.files)

    @property
    def cost_ms(self) -> float:
        start = BY_DRIVER_MS if self.by_driver else BY_SPARK_MS
        return start + FILE_MS * len(self.files) + MB_MS * self.bytes / 2**20

    def rent_ms(self, refreshes: Sequence[int]) -> float:
        """What the refreshes, by the snapshots they committed, paid for the job not being done."""
        younger = sorted(f.begin for f in self.files)[1:]
        rent = sum(FILE_MS * _since(refreshes, begin) for begin in younger)
        for file in self.files:
            since = _since(refreshes, file.delete.begin if file.delete else file.begin)
            rent += DELETED_MS * file.deleted * since / 2
        return rent


@dataclass(frozen=True)
class Worth:
    """A job, what it is expected to cost, and what its absence has cost."""

    job: Job
    cost_ms: float
    rent_ms: float

    def is_due(self, payback: float = 1.0) -> bool:
        return self.rent_ms >= payback * self.cost_ms


@dataclass(frozen=True)
class Layout(Job):
    """All files of a table, sorted by the keys that refreshes look up by."""

    def rent_ms(self, refreshes: Sequence[int]) -> float:
        """Each refresh read keys all over the table."""
        since = min((f.begin for f in self.files), default=0)
        return LOOKUP_MS * self.bytes / 2**20 * _since(refreshes, since)


def weigh(jobs: Iterable[Job], refreshes: Sequence[int], pace: float = 1.0) -> list[Worth]:
    """What each job costs, at the pace of earlier ones, and what it would have saved; `refreshes` are in order."""
    return [Worth(job, job.cost_ms * pace, job.rent_ms(refreshes)) for job in jobs]


def reason(chosen: Sequence[Worth]) -> str:
    rent, cost = sum(w.rent_ms for w in chosen), sum(w.cost_ms for w in chosen)
    return f"its absence has cost {rent:.0f} ms, it costs about {cost:.0f} ms"


def alike(files: Sequence[DataFile]) -> tuple[DataFile, ...]:
    """Without those that are larger than all smaller ones together: a row is then written anew log(n) times, not n."""
    kept = sorted(files, key=lambda f: f.bytes)
    while len(kept) > 1 and kept[-1].bytes > sum(f.bytes for f in kept[:-1]):
        kept.pop()
    chosen = {f.id for f in kept}
    return tuple(f for f in files if f.id in chosen)


def pace(past: Sequence[tuple[float, float]]) -> float:
    """How much longer earlier jobs took than was expected: the median, within reason; (expected, taken) each.

    >>> pace([(100, 150), (100, 50), (100, 200)]), pace([])
    (1.5, 1.0)
    """
    ratios = sorted(taken / expected for expected, taken in past if expected > 0)
    return min(5.0, max(0.2, ratios[len(ratios) // 2])) if ratios else 1.0


def few(files: Iterable[DataFile], most: int) -> bool:
    """Whether the driver writes them."""
    return sum(f.live for f in files) <= most


def _since(refreshes: Sequence[int], snapshot: int) -> int:
    return len(refreshes) - bisect_right(refreshes, snapshot)
