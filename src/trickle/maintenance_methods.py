"""The functions that keep a lake small and quick, as methods of a session."""

from __future__ import annotations

from datetime import datetime

from .lake.lake import Lake
from .lake.maintenance import cluster, expire, merging, orphans, protect, rewriting
from .ops import maintenance_facts
from .ops.streams import Streams
from .records import Records
from .sql.parse import table_name


class MaintenanceMethods:
    """Mixed into `Session`."""

    @property
    def lake(self) -> Lake:
        raise NotImplementedError

    @property
    def _streams(self) -> Streams:
        raise NotImplementedError

    def merge_files(self, name: str | None = None) -> Records[merging.Merged]:
        """Merge small neighbouring files, of one table or of all; time travel and the change feed stay as they are.

        db.merge_files("orders")
        """
        return Records(merging.merge_files(self.lake, table_name(name) if name else None))

    def rewrite_deletes(self, name: str | None = None, threshold: float | None = None) -> Records[rewriting.Rewritten]:
        """Rewrite files of which more than `threshold` (a share) is deleted."""
        return Records(rewriting.rewrite_deletes(self.lake, table_name(name) if name else None, threshold))

    def cluster(self, name: str, by: list[str] | None = None) -> Records[cluster.Clustered]:
        """Rewrite a table sorted by its cluster keys, or by `by`."""
        return Records(cluster.cluster(self.lake, table_name(name), by))

    def maintenance_history(
        self, name: str | None = None, limit: int = 20
    ) -> Records[maintenance_facts.MaintenanceRecord]:
        """What maintenance did by itself between refreshes, and why, newest first: of all tables, or one."""
        return maintenance_facts.maintenance_history(self._streams, table_name(name) if name else None, limit)

    def expire_snapshots(
        self,
        keep: int | None = None,
        older_than: datetime | None = None,
        snapshots: list[int] | None = None,
        dry_run: bool = False,
    ) -> Records[expire.Expired]:
        """Forget old snapshots: all but the newest `keep`, those before `older_than`, or those named.

        What a stream table still has to read, and what is protected, stays.

            db.expire_snapshots(keep=100, dry_run=True)
        """
        needed = self._streams.needed
        return Records(expire.expire_snapshots(self.lake, keep, older_than, snapshots, dry_run, needed))

    def protect_snapshot(self, snapshot: int, owner: str) -> None:
        """Keep a snapshot from expiring until its owner releases it.

        db.protect_snapshot(db.head(), "audit 2024")
        """
        protect.protect(self.lake, snapshot, owner)

    def release_snapshot(self, snapshot: int, owner: str) -> None:
        """Let a snapshot expire that the owner protected; others may still protect it."""
        protect.release(self.lake, snapshot, owner)

    def clean_files(self, grace_seconds: float | None = None, dry_run: bool = False) -> Records[orphans.Removed]:
        """Remove files that the catalog no longer needs and noted for deletion."""
        return Records(orphans.clean_files(self.lake, grace_seconds, dry_run))

    def collect_orphans(self, grace_seconds: float | None = None, dry_run: bool = False) -> Records[orphans.Removed]:
        """Remove files that no snapshot ever named: what crashed writers left behind."""
        return Records(orphans.collect_orphans(self.lake, grace_seconds, dry_run))
