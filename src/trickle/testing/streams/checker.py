"""Is a stream table what its query says, by DuckDB's answer over the same lake at the same snapshot?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa

from trickle.testing.duckdb_peer import DuckDBPeer, LakeAddress
from trickle.testing.rows import rows_of
from trickle.testing.streams.query import Query
from trickle.testing.streams.sources import SOURCES

DIGITS = 9
Row = tuple[Hashable, ...]


@dataclass(frozen=True)
class Checker:
    """Asks DuckDB once for many stream tables: what is stored, and what their queries give at a snapshot."""

    peer: DuckDBPeer
    lake: LakeAddress
    sources: tuple[str, ...] = tuple(source.name for source in SOURCES)
    views: tuple[tuple[str, str], ...] = ()

    def differences(self, queries: Sequence[Query], snapshot: int, beside: Sequence[Query] = ()) -> list[str]:
        """One line for each stream table that is not its query at the snapshot, schema and rows.

        `beside` are further queries that these may read.
        """
        stored = [f"FROM {query.name}" for query in queries]
        # Queries become views beside copies of the sources: one that reads another is recomputed all the way down.
        setting = [
            "DROP SCHEMA IF EXISTS memory.judge CASCADE",
            "CREATE SCHEMA memory.judge",
            "USE memory.judge",
            *(f"CREATE TABLE {t} AS FROM lake.main.{t} AT (VERSION => {snapshot})" for t in self.sources),
            *(f"CREATE VIEW {name} AS {text}" for name, text in self.views),
            *(f"CREATE VIEW {query.name} AS {query.judge}" for query in dict.fromkeys((*beside, *queries))),
        ]
        done = ["USE lake", "DROP SCHEMA memory.judge CASCADE"]
        answers = self.peer.run(self.lake, *stored, *setting, *stored, *done)
        held, wanted = answers[: len(queries)], answers[-len(queries) - len(done) : -len(done)]
        pairs = zip(queries, held, wanted, strict=True)
        return [line for query, held, wanted in pairs for line in difference(query, held, wanted)]


def difference(query: Query, held: pa.Table, wanted: pa.Table) -> list[str]:
    """What is missing and what is too much; nothing if both are the same table."""
    found, right = rows_of(held), rows_of(wanted)
    if found.columns != right.columns:
        return [f"{query.name}: columns are {found.columns}, should be {right.columns}"]
    change = (right - found).counts
    missing = Counter({row: n for row, n in change.items() if n > 0})
    extra = Counter({row: -n for row, n in change.items() if n < 0})
    _pair_up(missing, extra, [n for n, name in enumerate(right.names) if name in query.rounded])
    return [f"{query.name}: missing {dict(missing)}, too much {dict(extra)}"] if missing or extra else []


def _pair_up(missing: Counter[Row], extra: Counter[Row], rounded: Sequence[int]) -> None:
    """Take away pairs of rows that differ in nothing but the last digits of the rounded columns."""
    if not rounded:
        return
    for row in list(missing):
        for other in list(extra):
            if _near(row, other, rounded):
                both = min(missing[row], extra[other])
                _take(missing, row, both)
                _take(extra, other, both)
                if row not in missing:
                    break


def _take(rows: Counter[Row], row: Row, number: int) -> None:
    rows[row] -= number
    if not rows[row]:
        del rows[row]


def _near(a: Row, b: Row, rounded: Sequence[int]) -> bool:
    return all(close(x, y) if n in rounded else x == y for n, (x, y) in enumerate(zip(a, b, strict=True)))


def close(a: Hashable, b: Hashable) -> bool:
    """Doubles as `rows` writes them: alike in nine digits; what is next to nothing is nothing.

    A decimal that one engine rounds from a double may differ by one unit of its last place.

    >>> close("0.30000000000000004", "0.3"), close("-1e-17", "0.0"), close("nan", "nan"), close("1", None)
    (True, True, True, False)
    >>> close(Decimal("1.50"), Decimal("1.51")), close(Decimal("1.50"), Decimal("1.52"))
    (True, False)
    """
    if isinstance(a, Decimal) and isinstance(b, Decimal):
        return abs(a - b) <= Decimal(1).scaleb(int(a.as_tuple().exponent))
    if not (isinstance(a, str) and isinstance(b, str)):
        return a == b
    return a == b or math.isclose(float(a), float(b), rel_tol=10**-DIGITS, abs_tol=1e-12)
