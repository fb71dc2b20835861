"""Where benchmarks run: a lake of their own in a folder that is removed afterwards."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import trickle

COLUMNS = "id BIGINT, customer INT, amount DOUBLE, note STRING, at TIMESTAMP"
FILES = 8


@dataclass(frozen=True)
class Arena:
    db: trickle.Session
    folder: Path
    scale: float = 1.0
    """Factor on the number of rows and files."""

    @property
    def spark(self) -> SparkSession:
        return self.db.spark

    def sized(self, full: int) -> int:
        """A full size at the arena's scale; never nothing."""
        return max(1, round(full * self.scale))

    def orders(self, rows: int, files: int = FILES) -> DataFrame:
        """Rows that cost little to make, so that what is timed is what is done with them."""
        return self.spark.range(0, rows, 1, files).selectExpr(
            "id",
            "CAST(pmod(hash(id), 100000) AS INT) AS customer",
            "pmod(xxhash64(id), 1000000) / 100D AS amount",
            "concat('order ', id % 1000) AS note",
            "timestamp_seconds(1700000000 + id) AS at",
        )

    def plain(self, name: str) -> str:
        """A folder for plain Parquet."""
        return str(self.folder / "plain" / name)

    def clear(self, name: str) -> None:
        shutil.rmtree(self.plain(name), ignore_errors=True)


@contextmanager
def arena(
    scale: float = 1.0,
    within: str | None = None,
    spark: SparkSession | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Iterator[Arena]:
    """An empty arena; `within` names the folder, and so the disk, that it is made in."""
    folder = Path(tempfile.mkdtemp(prefix="trickle-bench-", dir=within))
    try:
        with warnings.catch_warnings(), trickle.connect(folder / "lake", spark=spark, settings=settings) as db:
            warnings.simplefilter("ignore", trickle.TrickleWarning)  # what is measured is as it should be
            yield Arena(db, folder, scale)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
