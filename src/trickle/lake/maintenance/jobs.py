"""What there is to do for a table: small files to merge, worn ones to rewrite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..model import Snapshot, Table
from . import merging, rewriting
from .targets import files
from .worth import Job, alike, few

if TYPE_CHECKING:
    from ..lake import Lake


@dataclass(frozen=True)
class Merge(Job):
    values: tuple[str | None, ...] = ()
    """Of the partition."""


@dataclass(frozen=True)
class Rewrite(Job):
    """Files that are worn, but have no small neighbours."""


@dataclass(frozen=True)
class Done:
    action: str
    files_before: int
    files_after: int
    snapshot: int


def jobs(lake: Lake, table: Table, head: Snapshot) -> list[Job]:
    """Every job that could be done, worth it or not."""
    most = int(lake.settings["lake.small_write_rows"])
    runs = [replace(r, files=alike(r.files)) for r in merging.runs(lake, table, head)]
    merges = [Merge(r.files, few(r.files, most), r.values) for r in runs if len(r.files) > 1]
    taken = {f.id for job in merges for f in job.files}
    worn = [f for f in files(lake, table, head) if f.deleted and f.id not in taken]
    return [*merges, *(Rewrite((f,), few([f], most)) for f in worn)]


def do(lake: Lake, table: Table, head: Snapshot, chosen: Iterable[Job]) -> Iterable[Done]:
    """The jobs, one commit a kind; a file that another commit changed meanwhile is a `CommitConflict`."""
    merges = [merging.Run(job.values, job.files) for job in chosen if isinstance(job, Merge)]
    if merged := merging.merge(lake, table, head, merges):
        yield Done("MERGE", merged.files_before, merged.files_after, merged.snapshot)
        head = lake.snapshot(merged.snapshot)
    if worn := [f for job in _rewrites(chosen) for f in job.files]:
        rewritten = rewriting.rewrite(lake, table, head, worn)
        yield Done("REWRITE", rewritten.files_before, rewritten.files_after, rewritten.snapshot)


def action(job: Job) -> str:
    return "MERGE" if isinstance(job, Merge) else "REWRITE"


def _rewrites(chosen: Iterable[Job]) -> Sequence[Job]:
    return [job for job in chosen if isinstance(job, Rewrite)]
