"""What benchmarks of refreshes found, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..tables import Rows

HEAD = ("what", "rows", "changed", "differential, ms", "spread", "floors", "Spark, ms", "spread", "gain")
MORE = {"full_ms": "full, ms", "duckdb_ms": "DuckDB, ms"}
"""Ways that are not always measured."""
WORK = ("jobs", "stages", "rows read", "MB read", "MB by driver", "most in")


def duel_table(rows: Sequence[Mapping[str, Any]], floor: Mapping[str, float] | None) -> Rows:
    """One line for each stream table; in floors, how many of Spark's own a refresh takes."""
    more = [kind for kind in MORE if any(row.get(kind) for row in rows)]
    head = [*HEAD, *(MORE[kind] for kind in more), *WORK]
    return Rows(head, [(*_times(row, floor), *(_median(row[kind]) for kind in more), *_work(row)) for row in rows])


def _times(row: Mapping[str, Any], floor: Mapping[str, float] | None) -> tuple[Any, ...]:
    own, spark = row["differential_ms"], row["spark_ms"]
    least = row.get("floor_ms") or (floor or {}).get("median")
    floors = "" if not least else round(own["median"] / least, 1)
    figures = (round(own["median"], 1), _spread(own), floors, round(spark["median"], 1), _spread(spark))
    return (row["name"], row["table_rows"], row["changed_rows"], *figures, round(row["gain"], 2))


def _work(row: Mapping[str, Any]) -> tuple[Any, ...]:
    longest = sorted(row["phases_ms"].items(), key=lambda pair: -pair[1])[:2]
    spent = ", ".join(f"{name} {ms:.0f}" for name, ms in longest)
    read = (row["rows_read"], _mb(row["bytes_read"]), _mb(row["driver_bytes_read"]))
    return (row["jobs"], row["stages"], *read, spent)


def _mb(size: int) -> float:
    return round(size / 2**20, 2)


def _spread(timing: Mapping[str, float]) -> str:
    return f"{timing['least']:.0f} – {timing['most']:.0f}"


def _median(timing: Mapping[str, float] | None) -> str:
    """
    >>> _median({"median": 12.34, "least": 10.0, "most": 20.0}), _median(None)
    ('12.3 (10 – 20)', '')
    """
    return "" if timing is None else f"{timing['median']:.1f} ({_spread(timing)})"
