"""What a refresh did."""

from __future__ import annotations

from dataclasses import dataclass

from ..records import Record


@dataclass(frozen=True)
class RefreshResult(Record):
    name: str
    action: str
    reason: str
    rows_inserted: int
    rows_deleted: int
    duration_ms: float
    data_snapshot: int | None
    snapshot: int | None
