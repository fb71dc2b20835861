"""What Spark does inside a block: jobs, stages, rows and bytes read."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.sql import SparkSession


@dataclass
class SparkWork:
    jobs: int = 0
    stages: int = 0
    rows_read: int = 0
    bytes_read: int = 0


@contextmanager
def counted(spark: SparkSession) -> Iterator[SparkWork]:
    """Of this thread alone; counted when the block ends."""
    work, group = SparkWork(), uuid.uuid4().hex
    context = spark.sparkContext
    context.setJobGroup(group, "bench")
    try:
        yield work
    finally:
        context.setLocalProperty("spark.jobGroup.id", "")
        _count(spark, group, work)


def _count(spark: SparkSession, group: str, work: SparkWork) -> None:
    """By what Spark's own pages show; its listeners lag behind, so they are drained first."""
    context = spark.sparkContext
    context._jsc.sc().listenerBus().waitUntilEmpty(30_000)
    tracker, store = context.statusTracker(), context._jsc.sc().statusStore()
    for job in tracker.getJobIdsForGroup(group):
        info = tracker.getJobInfo(job)
        work.jobs += 1
        for stage in info.stageIds if info else ():
            done = store.lastStageAttempt(stage)
            if done.numCompleteTasks():
                work.stages += 1
                work.rows_read += done.inputRecords()
                work.bytes_read += done.inputBytes()
