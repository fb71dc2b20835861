"""Rows that the driver holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from ..handing import batches, is_handed_over, local_frame, seen_as
from .model import Bound
from .within import within

FEW = 1_000
"""Rows up to which it does not pay to leave some out."""


@dataclass(frozen=True)
class Held:
    """Rows that the driver holds, and the columns Spark shall see them with."""

    rows: pa.Table
    schema: StructType | None = None
    """None: as Arrow says."""
    _frames: dict[int, DataFrame] = field(default_factory=dict, compare=False)
    _batches: dict[tuple[int, bool], Any] = field(default_factory=dict, compare=False)

    def frame(self, spark: SparkSession) -> DataFrame:
        """The rows as a DataFrame; a session that has seen them is not handed them again."""
        if id(spark) not in self._frames:
            self._frames[id(spark)] = local_frame(spark, self.rows, self.schema)
        return self._frames[id(spark)]

    @cached_property
    def seen(self) -> StructType:
        return self.schema or seen_as(self.rows)

    def batches(self, spark: SparkSession, large: bool) -> Any:
        """The rows in the session's JVM, once; None where only PySpark knows the way."""
        if (id(spark), large) not in self._batches:
            goes = is_handed_over(spark, self.rows, self.seen)
            self._batches[id(spark), large] = batches(spark, self.rows, self.seen, large) if goes else None
        return self._batches[id(spark), large]

    def within(self, bounds: Sequence[Bound]) -> Held:
        """The rows within the bounds; perhaps some more."""
        if self.rows.num_rows <= FEW or not bounds:
            return self
        kept = np.ones(self.rows.num_rows, dtype=bool)
        for bound in bounds:
            if bound.column in self.rows.column_names:
                kept &= within(self.rows.column(bound.column), bound)
        return self if kept.all() else Held(self.rows.filter(pa.array(kept)), self.schema)


Rows = DataFrame | Held


def as_frame(rows: Rows, spark: SparkSession) -> DataFrame:
    return rows.frame(spark) if isinstance(rows, Held) else rows
