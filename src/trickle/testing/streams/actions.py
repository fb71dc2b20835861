"""How much Spark works: jobs by their group, actions by SQL executions that ran a job.

An action (a collect, a write) is one SQL execution; adaptive execution runs it as several jobs, one for each
broadcast and shuffle stage. Naming a temporary view is an execution too, but runs no job.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pyspark.sql import SparkSession


@dataclass
class Work:
    jobs: list[int] = field(default_factory=list)
    actions: int = 0


@contextmanager
def watched(spark: SparkSession) -> Iterator[Work]:
    """Counts what Spark does inside the block, in this thread."""
    work, group = Work(), uuid.uuid4().hex
    before = _finished(spark)
    spark.sparkContext.setJobGroup(group, "watched")
    try:
        yield work
    finally:
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", "")
        work.jobs = sorted(spark.sparkContext.statusTracker().getJobIdsForGroup(group))
        work.actions = len(_finished(spark) - before)


def _finished(spark: SparkSession) -> set[int]:
    """Executions that ran at least one job; the listener bus is drained first, it lags behind."""
    # Spark's public Python API does not list executions; a test may ask the session behind it.
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(30_000)
    listed = spark._jsparkSession.sharedState().statusStore().executionsList()
    executions = [listed.apply(n) for n in range(listed.size())]
    return {e.executionId() for e in executions if e.jobs().size() > 0}
