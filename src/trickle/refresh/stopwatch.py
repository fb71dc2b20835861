"""How long a refresh took, and its line in the history."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime

from ..learning import Learning
from ..registry.models import Refresh, StreamTable
from .result import RefreshResult


@dataclass
class Stopwatch:
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    learning: Learning = field(default_factory=Learning)
    _clock: float = field(default_factory=time.perf_counter)
    _stopped: float | None = None

    @property
    def milliseconds(self) -> float:
        now = time.perf_counter() if self._stopped is None else self._stopped
        return (now - self._clock) * 1000

    def stop(self) -> None:
        """What comes now is not its own."""
        self._stopped = time.perf_counter()

    def result(
        self,
        table: StreamTable,
        action: str,
        reason: str,
        inserted: int,
        deleted: int,
        data_snapshot: int | None,
        snapshot: int | None,
    ) -> RefreshResult:
        return RefreshResult(table.label, action, reason, inserted, deleted, self.milliseconds, data_snapshot, snapshot)

    def line(
        self, table: StreamTable, result: RefreshResult, changed_rows: int = 0, initiated_by: str = "user"
    ) -> Refresh:
        return Refresh(
            table.id,
            table.label,
            self.started_at,
            datetime.now(UTC),
            result.action,
            result.reason,
            result.rows_inserted,
            result.rows_deleted,
            changed_rows,
            result.duration_ms,
            result.data_snapshot,
            result.snapshot,
            initiated_by,
            learning_ms=self.learning.milliseconds,
        )
