"""Is a stream table what its query says, by DuckDB's answer over the same lake at the same snapshot?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from trickle.testing.duckdb_peer import DuckDBPeer, LakeAddress
from trickle.testing.rows import Rows, rows_of
from trickle.testing.streams.query import Query
from trickle.testing.streams.sources import SOURCES

DIGITS = 9


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
    found, right = _rounded(query, rows_of(held)), _rounded(query, rows_of(wanted))
    if found.columns != right.columns:
        return [f"{query.name}: columns are {found.columns}, should be {right.columns}"]
    change = (right - found).counts
    missing = {row: n for row, n in change.items() if n > 0}
    extra = {row: -n for row, n in change.items() if n < 0}
    return [f"{query.name}: missing {missing}, too much {extra}"] if change else []


def _rounded(query: Query, rows: Rows) -> Rows:
    places = [n for n, name in enumerate(rows.names) if name in query.rounded]
    if not places:
        return rows
    counts: Counter[tuple[Hashable, ...]] = Counter()
    for row, number in rows.counts.items():
        counts[tuple(_digits(v) if n in places else v for n, v in enumerate(row))] += number
    return Rows(rows.columns, counts)


def _digits(value: Hashable) -> Hashable:
    """Nine significant digits of a double as `rows` writes it; what is next to nothing is nothing.

    >>> _digits("0.30000000000000004"), _digits("-1e-17"), _digits("nan")
    ('0.3', '0', 'nan')
    """
    if not isinstance(value, str) or value == "nan":
        return value
    number = float(value)
    return "0" if abs(number) < 1e-12 else f"{number:.{DIGITS}g}"
