"""What each page says, as plain values: the page renders them, its `.json` twin prints them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..dag import STREAM, TABLE, Graph
from ..errors import NotFound
from ..ops import health
from ..ops.facts import effective_mode
from ..ops.ledger import name_of
from ..ops.overview import Condition, Overview
from ..records import Record
from ..registry.models import StreamTable
from .plans import Plans

if TYPE_CHECKING:
    from ..session import Session

Facts = dict[str, Any]
RECENT, DRAWN, SPARK = 15, 60, 24
"""Lines of the history that are listed, drawn on a stream table's page, and drawn small."""


def index(db: Session) -> Facts:
    """The lake at a glance."""
    seen = db.overview()
    lines = db.refresh_history(limit=500)
    durations: dict[str, list[float]] = defaultdict(list)
    for line in reversed(lines):
        if line.action not in ("NO_DATA", "SKIP"):
            durations[line.name].append(line.duration_ms)
    return {
        **_lake(db, seen),
        "stream_tables": [{**_row(c), "durations_ms": durations[c.name][-SPARK:]} for c in seen.conditions],
        "problems": _records(db.diagnose_errors()),
        "last_hour": plain(db.metrics_summary(hours=1.0)),
        "recent": _records(lines[:RECENT]),
    }


def graph(db: Session) -> Facts:
    """What reads what, and how fresh it is."""
    seen = db.overview()
    drawn = dependency_graph([c.table for c in seen.conditions])
    states = {c.name: c for c in seen.conditions}
    nodes = [_node(name, drawn.kinds[name], states.get(name)) for level in drawn.levels() for name in level]
    edges = [{"source": a, "reader": b} for a, b in sorted(drawn.edges())]
    return {**_lake(db, seen), "nodes": nodes, "edges": edges}


def checks(db: Session) -> Facts:
    """Every health check, and the sources' changes."""
    seen = db.overview()
    return {
        **_lake(db, seen),
        "checks": _records(health.health_check(seen)),
        "problems": _records(db.diagnose_errors()),
        "sources": _records(db.change_stats()),
    }


def stream_table(db: Session, plans: Plans, label: str) -> Facts:
    """One stream table: definition, plan, history, errors, lag."""
    seen = db.overview()
    [found] = seen.of(called([c.table for c in seen.conditions], label)).conditions
    name = name_of(found.table).quote_spark()
    drawn = dependency_graph([c.table for c in seen.conditions])
    states = {c.name: c for c in seen.conditions}
    return {
        **_lake(db, seen),
        "stream_table": _row(found),
        "query": found.table.query,
        "dialect": found.table.dialect,
        "created_at": plain(found.table.created_at),
        "options": {k: v for k, v in found.table.options.items() if v not in (None, False, "") and v != []},
        "reads": [_node(n, drawn.kinds[n], states.get(n)) for n in drawn.sources.get(found.name, ())],
        "read_by": [_node(n, drawn.kinds[n], states.get(n)) for n in drawn.readers(found.name)],
        "problems": _records(db.diagnose_errors(name)),
        "fuse": plain(db.fuse_status(name)[0]),
        "last_day": plain(db.refresh_metrics(name)[0]),
        "history": _records(db.refresh_history(name, limit=DRAWN)),
        "explanation": plans.of(found.table),
    }


def called(tables: Sequence[StreamTable], label: str) -> StreamTable:
    """The stream table that an address means: by its label, which SQL could not read back."""
    for spelled in (str, str.casefold):
        for table in tables:
            if spelled(table.label) == spelled(label):
                return table
    raise NotFound(f'stream table "{label}" does not exist', hint="the overview lists them.")


def dependency_graph(tables: Sequence[StreamTable]) -> Graph:
    """By what the registry remembers, so that it can be drawn even when a source is gone."""
    labels = {t.stored: t.label for t in tables}
    drawn = Graph()
    for table in tables:
        read = [labels.get(d.name, d.name.removeprefix("main.")) for d in table.dependencies]
        drawn = drawn.put(table.label, STREAM, read)
    return drawn


def plain(value: Any) -> Any:
    """In JSON's own types."""
    if isinstance(value, Record):
        return {k: plain(v) for k, v in value.asdict().items()}
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds")
    if isinstance(value, tuple | list):
        return [plain(v) for v in value]
    return value


def _records(found: Sequence[Record]) -> list[Facts]:
    return [plain(record) for record in found]


def _lake(db: Session, seen: Overview) -> Facts:
    return {
        "lake": db.lake.catalog.label,
        "at": plain(seen.at),
        "head": seen.head,
        "catalog_ms": round(seen.catalog_seconds * 1000, 1),
        "health": plain(health.quick_health(seen)),
    }


def _row(condition: Condition) -> Facts:
    table, last = condition.table, condition.last
    return {
        "name": condition.name,
        "state": condition.state,
        "status": table.status,
        "refresh_mode": table.refresh_mode,
        "effective_mode": effective_mode(table),
        "schedule": table.options.get("schedule"),
        "lag_seconds": condition.lag,
        "target_lag_seconds": condition.target_lag,
        "is_stale": condition.is_stale,
        "is_running": condition.is_running,
        "held": condition.held,
        "fuse": condition.fuse,
        "data_snapshot": table.frontier,
        "snapshot": table.snapshot,
        "last_action": last.action if last else None,
        "last_reason": last.reason if last else None,
        "last_refresh_at": plain(last.finished_at) if last else None,
        "last_duration_ms": last.duration_ms if last else None,
        "last_error": table.last_error or None,
    }


def _node(name: str, kind: str, condition: Condition | None) -> Facts:
    if condition is None:
        return {"name": name, "kind": TABLE if kind == STREAM else kind, "state": None, "lag_seconds": None}
    return {"name": name, "kind": kind, "state": condition.state, "lag_seconds": condition.lag}


PAGES: Mapping[str, tuple[str, Callable[[Session], Facts]]] = {
    "/": ("index.html", index),
    "/graph": ("graph.html", graph),
    "/health": ("health.html", checks),
}
"""Path, template, facts; `/index.json`, `/graph.json` and `/health.json` are the twins."""
