"""Facts as people read them: few columns, short words, numbers with their units."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..ops import words
from .tables import Rows
from .values import Amount, OneLine, to_text

if TYPE_CHECKING:
    from ..execute.describe import TableRecord
    from ..ops.facts import HistoryRecord, StatusRecord, StreamTableRecord
    from ..refresh.result import RefreshResult
    from ..session import SnapshotRecord
    from .commands.facts import SettingRecord

R = TypeVar("R")


@dataclass(frozen=True)
class Face(Generic[R]):
    """Heads of columns, and the cells of one fact."""

    heads: tuple[str, ...]
    cells: Callable[[R], tuple[Any, ...]]

    def rows(self, found: Iterable[R]) -> Rows:
        return Rows(list(self.heads), [self.cells(fact) for fact in found])


def _named(fact: StreamTableRecord | StatusRecord | TableRecord) -> str:
    return fact.name if fact.schema == "main" else f"{fact.schema}.{fact.name}"


def _did(action: str | None, reason: str | None) -> str:
    """
    >>> _did("FULL", "initial_load"), _did("DIFFERENTIAL", ""), _did(None, None)
    ('FULL initial_load', 'DIFFERENTIAL', '–')
    """
    return " ".join(filter(None, (action, reason))) or "–"


def _snapshot(number: int | None) -> Amount:
    return Amount("–" if number is None else number)


def _listed(fact: StreamTableRecord) -> tuple[Any, ...]:
    query = OneLine(" ".join(fact.query.split()))
    return _named(fact), fact.refresh_mode, fact.status, _snapshot(fact.data_snapshot), query


def _status(fact: StatusRecord) -> tuple[Any, ...]:
    mode = fact.refresh_mode if fact.refresh_mode != "AUTO" else f"AUTO: {fact.effective_mode}"
    lag = Amount(words.lag(fact.lag_seconds))
    return _named(fact), fact.status, mode, _snapshot(fact.data_snapshot), lag, _did(fact.last_action, fact.last_reason)


def _history(fact: HistoryRecord) -> tuple[Any, ...]:
    return (
        words.briefly(fact.finished_at, datetime.now(UTC)),
        fact.name,
        "FAILED" if fact.error else _did(fact.action, fact.reason),
        Amount(words.rows(fact.rows_inserted, fact.rows_deleted)),
        Amount(words.milliseconds(fact.duration_ms)),
        _snapshot(fact.data_snapshot),
    )


def _refreshed(fact: RefreshResult) -> tuple[Any, ...]:
    return (
        fact.name,
        _did(fact.action, fact.reason),
        Amount(words.rows(fact.rows_inserted, fact.rows_deleted)),
        Amount(words.milliseconds(fact.duration_ms)),
        _snapshot(fact.data_snapshot),
    )


def _table(fact: TableRecord) -> tuple[Any, ...]:
    kept = (("key", fact.primary_key), ("partitioned by", fact.partitioned_by), ("clustered by", fact.clustered_by))
    return _named(fact), ", ".join(fact.columns), "; ".join(f"{what} {', '.join(by)}" for what, by in kept if by)


def _snapshots(fact: SnapshotRecord) -> tuple[Any, ...]:
    at = words.briefly(fact.time, datetime.now(UTC))
    return fact.id, at, fact.author or "", fact.message or "", OneLine(fact.changes)


def _setting(fact: SettingRecord) -> tuple[Any, ...]:
    value = to_text(fact.value)
    meaning = f"{fact.meaning} ({fact.range})" if fact.range else fact.meaning
    return fact.name, value if fact.value == fact.default else f"{value} (default {to_text(fact.default)})", meaning


LISTED = Face(("stream table", "mode", "state", "exact for", "query"), _listed)
STATUS = Face(("stream table", "state", "mode", "exact for", "lag", "last refresh"), _status)
HISTORY = Face(("at (UTC)", "stream table", "refresh", "rows", "took", "exact for"), _history)
TABLES = Face(("table", "columns", "kept"), _table)
SNAPSHOTS = Face(("snapshot", "at (UTC)", "author", "message", "changes"), _snapshots)
SETTINGS = Face(("setting", "value", "meaning"), _setting)
REFRESHED = Face(("stream table", "refresh", "rows", "took", "exact for"), _refreshed)
