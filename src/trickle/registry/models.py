"""What the registry remembers, as values."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

MODES = ("AUTO", "DIFFERENTIAL", "FULL", "IMMEDIATE")
INTERMEDIATES = "stored_intermediates"
SHRANK = "sources_shrank"
"""Beside the options: a source lost rows although append_only was declared, which stays as it was written."""
"""Where a definition says which intermediates it has: among the options, but not one that users set."""
ACTIVE, SUSPENDED, FAILED = "ACTIVE", "SUSPENDED", "ERROR"
SCHEMA_CHANGED, FUNCTION_CHANGED = "source_schema_changed", "function_changed"
"""Reasons to start anew for which the query has to be understood anew, too."""
REDEFINED = (SCHEMA_CHANGED, FUNCTION_CHANGED, "query_changed")
"""Reasons to start anew after which it is another query: what refreshes took before tells nothing."""


@dataclass(frozen=True)
class Dependency:
    """A stored table that a stream table reads, and how it looked when the query was compiled."""

    name: str
    """As plans name it: `schema.table`."""
    table_id: int
    columns: tuple[str, ...]
    fingerprint: str
    """Ids, names and types of those columns."""

    @property
    def is_stream_table(self) -> bool:
        return self.name.startswith("trickle.")


@dataclass(frozen=True, repr=False)
class StreamTable:
    """A stream table's definition and its state."""

    id: int
    schema: str
    name: str
    query: str
    dialect: str
    refresh_mode: str
    options: Mapping[str, Any]
    stored_name: str
    version: int
    """Grows with every change of the definition."""
    status: str = ACTIVE
    frontier: int | None = None
    """The data snapshot: the lake snapshot its content is exact for; None before it is filled."""
    snapshot: int | None = None
    """The commit snapshot: where that content was written."""
    seen: int | None = None
    """The newest lake snapshot that its last refresh saw: later commits of stream tables it reads are still to come."""
    pending: str = ""
    """Why the next refresh must start anew; empty if it need not."""
    obstacle: str = ""
    """The construct that has no differential form; empty if there is none."""
    last_error: str = ""
    errors_in_row: int = 0
    created_at: datetime | None = None
    dependencies: tuple[Dependency, ...] = field(default=())
    functions: Mapping[str, str] | None = None
    """Hashes of the user-defined functions that a new query calls; None where the query is not new."""

    def __repr__(self) -> str:
        """
        >>> StreamTable(1, "main", "revenue", "SELECT 1", "spark", "AUTO", {}, "revenue", 1, frontier=9)
        <stream table revenue: AUTO, ACTIVE, exact for snapshot 9>
        """
        state = "not filled yet" if self.frontier is None else f"exact for snapshot {self.frontier}"
        return f"<stream table {self.label}: {self.refresh_mode}, {self.status}, {state}>"

    def _repr_html_(self) -> str:
        return f"{html.escape(repr(self)[1:-1])}<pre>{html.escape(self.query)}</pre>"

    @property
    def label(self) -> str:
        return self.name if self.schema == "main" else f"{self.schema}.{self.name}"

    @property
    def append_only(self) -> bool:
        """Its sources are said to only grow, and did."""
        return bool(self.options.get("append_only")) and not self.options.get(SHRANK)

    @property
    def intermediates(self) -> tuple[str, ...]:
        """The operators of its query that are stored, by the names plans know them by."""
        return tuple(self.options.get(INTERMEDIATES, ()))

    def keeping(self, names: Iterable[str]) -> StreamTable:
        """The same with these intermediates."""
        return replace(self, options={**self.options, INTERMEDIATES: sorted(names)})

    @property
    def stored(self) -> str:
        """The stored table as plans name it."""
        return f"trickle.{self.stored_name}"


@dataclass(frozen=True)
class Maintenance:
    """One line of the maintenance history."""

    table_id: int
    name: str
    """The stored table or source, as plans name it."""
    started_at: datetime
    finished_at: datetime
    action: str
    reason: str
    files_before: int
    files_after: int
    duration_ms: float
    expected_ms: float
    snapshot: int | None
    initiated_by: str


@dataclass(frozen=True)
class Refresh:
    """One line of the refresh history."""

    stream_table_id: int
    name: str
    started_at: datetime
    finished_at: datetime
    action: str
    reason: str
    rows_inserted: int
    rows_deleted: int
    changed_rows: int
    """Rows of the sources' changes that went in."""
    duration_ms: float
    data_snapshot: int | None
    snapshot: int | None
    initiated_by: str
    error: str = ""
    learning_ms: float = 0.0
    """Of the duration: what was spent once, on queries and statements that were new and are quicker from then on."""
