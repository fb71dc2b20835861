"""What is done inside a block: Spark's jobs and stages, rows and bytes read by Spark and by the driver."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from ....lake.shelf import Shelf


@dataclass
class SparkWork:
    jobs: int = 0
    stages: int = 0
    rows_read: int = 0
    bytes_read: int = 0
    driver_rows_read: int = 0
    driver_bytes_read: int = 0


@contextmanager
def counted(spark: SparkSession, shelf: Shelf | None = None) -> Iterator[SparkWork]:
    """Of this thread alone; counted when the block ends. The driver reads through a shelf, for all threads."""
    work, group = SparkWork(), uuid.uuid4().hex
    before = (shelf.rows_read, shelf.bytes_read) if shelf else (0, 0)
    context = spark.sparkContext
    context.setJobGroup(group, "bench")
    try:
        yield work
    finally:
        context.setLocalProperty("spark.jobGroup.id", "")
        _count(spark, group, work)
        if shelf is not None:
            work.driver_rows_read, work.driver_bytes_read = shelf.rows_read - before[0], shelf.bytes_read - before[1]


def _count(spark: SparkSession, group: str, work: SparkWork) -> None:
    """By what Spark's own pages show; its listeners lag behind, so they are drained first."""
    context = spark.sparkContext
    context._jsc.sc().listenerBus().waitUntilEmpty(30_000)
    tracker, store = context.statusTracker(), context._jsc.sc().statusStore()
    for job in tracker.getJobIdsForGroup(group):
        info = tracker.getJobInfo(job)
        work.jobs += 1
        for stage in info.stageIds if info else ():
            try:
                done = store.lastStageAttempt(stage)
            except Py4JJavaError as error:
                if "NoSuchElementException" not in str(error.java_exception):
                    raise
                continue  # Spark forgets stages beyond a number, and those that it skipped before all others.
            if done.numCompleteTasks():
                work.stages += 1
                work.rows_read += done.inputRecords()
                work.bytes_read += done.inputBytes()
