"""Benchmarks: one figure one file, each a generator of contests that prepares before and tidies up after them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from . import append_large, append_small, delete_keys, prune_files, select_deleted
from .arena import Arena, arena
from .measure import Contest, Result, Timing, hold

Benchmark = Callable[[Arena], Iterator[Contest]]

LAKE: dict[str, Benchmark] = {
    "append-small": append_small.contests,
    "append-large": append_large.contests,
    "select-deleted": select_deleted.contests,
    "delete-keys": delete_keys.contests,
    "prune-files": prune_files.contests,
}


def run(benchmarks: Sequence[Benchmark], place: Arena, rounds: int | None = None) -> Iterator[Result]:
    """The results, one by one as they are found."""
    for benchmark in benchmarks:
        for contest in benchmark(place):
            yield hold(contest, rounds)


__all__ = ["LAKE", "Arena", "Benchmark", "Contest", "Result", "Timing", "arena", "hold", "run"]
