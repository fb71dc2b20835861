"""Every function of Spark, with the numbers of arguments it takes: `python -m trickle.testing.spark_functions FILE`.

sqlglot's reading of each is judged by this list, so it has to be written anew when Spark has new functions.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession

_MOST = 6


class Known(NamedTuple):
    """A function of Spark."""

    name: str
    aggregates: bool
    takes: tuple[int, ...]


def read(path: Path) -> list[Known]:
    lines = (line.split() for line in path.read_text().splitlines())
    return [Known(name, kind == "aggregate", tuple(map(int, takes))) for name, kind, *takes in lines]


def names(spark: SparkSession) -> list[str]:
    """Those with a name that can be written before parentheses."""
    listed = (row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect())
    return sorted(name for name in listed if name.isidentifier())


def look(spark: SparkSession) -> Iterator[str]:
    for name in names(spark):
        told = spark.sql(f"DESCRIBE FUNCTION `{name}`").collect()
        kind = "aggregate" if any(".aggregate." in row[0] or row[0].endswith("Agg") for row in told[:2]) else "function"
        takes = [str(n) for n in range(_MOST + 1) if _takes(spark, name, n)]
        yield " ".join([name, kind, *takes])


def _takes(spark: SparkSession, name: str, count: int) -> bool:
    try:
        spark.sql(f"SELECT `{name}`({', '.join(['NULL'] * count)})")
    except AnalysisException as error:
        return "WRONG_NUM_ARGS" not in str(error)
    except PySparkException:
        return True
    return True


if __name__ == "__main__":
    session = SparkSession.builder.master("local[1]").getOrCreate()
    Path(sys.argv[1]).write_text("".join(f"{line}\n" for line in look(session)))
