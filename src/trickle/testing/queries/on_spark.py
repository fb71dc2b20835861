"""The same law with Spark as engine and judge: several cases are one job, and only what is wrong comes back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, StructType

from trickle.errors import TrickleError
from trickle.plan import WEIGHT, Version, weight
from trickle.sql.render import render
from trickle.testing.queries.cases import Case
from trickle.testing.specs import Bench, relation

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_WRONG = re.compile(r"LIMIT [12]\)|ROLLUP|CUBE|GROUPING SETS|RECURSIVE")
"""What Spark 4.3 itself answers wrongly now and then, or not at all."""
_REFUSED = frozenset({"SCALAR_SUBQUERY_IS_IN_GROUP_BY_OR_AGGREGATE_FUNCTION"})
"""Where the standard knows more than Spark."""
LIGHT = 40
"""Operators of a change that Spark plans in a fraction of a second."""


class SparkStep:
    """One step of a story as views of a Spark session."""

    def __init__(self, spark: SparkSession, bench: Bench, number: int) -> None:
        self.spark, self.bench, self.number = spark, bench, number
        self.unchanged = bench.unchanged(number)
        for name in (relation(table, version) for table in bench.schemas for version in Version):
            spark.createDataFrame(_whole(bench.table(name, number))).createOrReplaceTempView(name)

    def bearable(self, cases: Iterable[Case], most: int = LIGHT) -> list[Case]:
        """The cases with a plan whose change has at most so many operators."""
        return [case for case in cases if self._weight(case) <= most]

    def wrong_rows(self, cases: Sequence[Case]) -> list[tuple[int, str, int]]:
        """Seeds and rows for which before + delta − after is not zero."""
        found = reduce(lambda one, two: one.unionAll(two), map(self._difference, cases))
        return [tuple(row) for row in found.collect()]

    def _weight(self, case: Case) -> float:
        try:
            if self.bench.plan(case.spec).recursions:
                return float("inf")  # Spark knows no UNION there
            return weight(self.bench.change(case.spec, self.unchanged))
        except TrickleError:
            return float("inf")

    def _difference(self, case: Case) -> DataFrame:
        before, after = self._answer(case, Version.BEFORE), self._answer(case, Version.AFTER)
        names = self.bench.plan(case.spec).plan.names
        change = self.spark.sql(render(self.bench.change(case.spec, self.unchanged), relation))
        columns = [_as(F.col(f"`{n}`"), f.dataType) for n, f in zip(names, before.schema.fields, strict=True)]
        rows = _weighted(before, before.columns, F.lit(1)).unionAll(_weighted(after, after.columns, F.lit(-1)))
        net = rows.unionAll(_weighted(change, columns, F.col(WEIGHT))).groupBy("row").agg(F.sum("w").alias("w"))
        return net.where("w <> 0").select(F.lit(case.seed).alias("seed"), "row", "w")

    def _answer(self, case: Case, version: Version) -> DataFrame:
        """Spark's answer to the text itself, before or after the step; to the plan, of texts that it reads wrongly."""
        if _WRONG.search(case.spec.query):
            return self._planned(case, version)
        named = "|".join(self.bench.schemas)
        text = re.sub(rf"\b({named})\b", lambda found: relation(found[1], version), case.spec.query)
        try:
            return self.spark.sql(text)
        except AnalysisException as error:
            if error.getCondition() not in _REFUSED:
                raise
            return self._planned(case, version)

    def _planned(self, case: Case, version: Version) -> DataFrame:
        plan = self.bench.plan(case.spec).plan
        return self.spark.sql(render(plan, lambda table, _: relation(table, version), plan.names))


def _as(column: Column, type: DataType) -> Column:
    """The column of a type; lists and structs as they are, for a cast may not promise that no part is NULL."""
    return column if isinstance(type, ArrayType | StructType) else column.cast(type)


def _whole(table: pa.Table) -> pa.Table:
    """In one chunk: PySpark cannot read a table that has none."""
    return pa.table([pa.array(column.to_pylist(), column.type) for column in table.columns], schema=table.schema)


def _weighted(rows: DataFrame, columns: Sequence[Column] | Sequence[str], sign: Column) -> DataFrame:
    return rows.select(F.struct(*columns).cast("string").alias("row"), sign.cast("bigint").alias("w"))
