"""A defining query of the catalogue, in the words of both engines."""

from __future__ import annotations

from dataclasses import dataclass

from trickle.sql.dialects import spark_to_duckdb, to_spark


@dataclass(frozen=True)
class Query:
    """What a stream table is asked to be, and how DuckDB is asked for the same."""

    name: str
    text: str
    duckdb: str = ""
    """Given where words or result types differ: DuckDB's sum of integers is a HUGEINT, its year a BIGINT."""
    rounded: frozenset[str] = frozenset()
    """Columns whose last digits depend on the order of double arithmetic: nine significant digits count."""
    dialect: str = "spark"

    @property
    def judge(self) -> str:
        """The query for DuckDB."""
        return self.duckdb or spark_to_duckdb(to_spark(self.text, self.dialect))
