"""The 22 queries with the validation parameters of the specification, and how DuckDB is asked for the same."""

from __future__ import annotations

from importlib import resources

import sqlglot
from sqlglot import exp

from trickle.sql.dialects import spark_to_duckdb
from trickle.testing.streams.query import Query

SUM, AVERAGE, QUOTIENT = "DECIMAL(25, 2)", "DECIMAL(19, 6)", "DECIMAL(38, 6)"
RESULT_TYPES = {
    "q01": {"sum_qty": SUM, "sum_base_price": SUM, "avg_qty": AVERAGE, "avg_price": AVERAGE, "avg_disc": AVERAGE},
    "q07": {"l_year": "INT"},
    "q08": {"o_year": "INT", "mkt_share": QUOTIENT},
    "q09": {"o_year": "INT"},
    "q11": {"value": "DECIMAL(36, 2)"},
    "q12": {"high_line_count": "BIGINT", "low_line_count": "BIGINT"},
    "q14": {"promo_revenue": QUOTIENT},
    "q17": {"avg_yearly": "DECIMAL(30, 6)"},
    "q18": {"sum_qty": SUM},
    "q22": {"totacctbal": SUM},
}
"""Spark's types of results where DuckDB's are wider, or where it has doubles for quotients and averages."""

DOUBLES = {
    "q01": frozenset({"avg_qty", "avg_price", "avg_disc"}),
    "q08": frozenset({"mkt_share"}),
    "q14": frozenset({"promo_revenue"}),
    "q17": frozenset({"avg_yearly"}),
}
"""Columns that DuckDB computes with doubles, to be compared with one unit of the last place to spare."""


def text_of(name: str) -> str:
    return (resources.files(__package__) / "queries" / f"{name}.sql").read_text(encoding="utf-8")


def judge_of(name: str) -> str:
    """The query for DuckDB: ties at a LIMIT are broken as Trickle breaks them, by all columns from left to right."""
    tree = sqlglot.parse_one(spark_to_duckdb(text_of(name)), read="duckdb")
    assert isinstance(tree, exp.Select)
    columns = tree.named_selects
    if tree.args.get("limit"):
        tree = tree.order_by(*(f'"{column}" ASC NULLS FIRST' for column in columns), dialect="duckdb")
    types = RESULT_TYPES.get(name, {})
    typed = (f"{c}::{types[c]} AS {c}" if c in types else c for c in columns)
    return f"SELECT {', '.join(typed)} FROM ({tree.sql(dialect='duckdb')})"


def query(name: str) -> Query:
    return Query(name, text_of(name), judge_of(name), DOUBLES.get(name, frozenset()))


QUERIES = tuple(query(f"q{number:02}") for number in range(1, 23))
