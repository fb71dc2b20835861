"""The Spark session: found or started, and set up for reading and writing lake files."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from .config import Settings
from .errors import ConfigError, JavaMissing
from .progress import progress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NEEDED = {
    "spark.sql.parquet.fieldId.read.enabled": "true",
    "spark.sql.parquet.fieldId.read.ignoreMissing": "true",
    "spark.sql.parquet.fieldId.write.enabled": "true",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
    "spark.sql.parquet.filterPushdown": "true",
    "spark.sql.parquet.pushdown.inFilterThreshold": "1000",
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "10000",
    "spark.sql.legacy.parquet.nanosAsLong": "false",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    # Spark 4.3 fuses unions with the aggregates below them into tasks that no executor can deserialize.
    "spark.sql.codegen.wholeStage.union.enabled": "false",
}
"""Set on every session, the user's too: without these, files are read or written wrongly, or queries fail."""

OWN = {
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.hadoop.fs.file.impl.disable.cache": "false",
    "spark.log.level": "ERROR",
    # Keys that are looked up stay out of the generated code, which then need not be compiled again for others.
    "spark.sql.optimizer.inSetSwitchThreshold": "0",
    # Every stream table has some compiled stages of its own; of 100, Spark's default, most would be compiled each time.
    # Statements with other numbers in them are other code: more than that would mostly keep what nobody runs again.
    "spark.sql.codegen.cache.maxEntries": "1000",
    # Files are named one by one and never change: their listing is not asked for twice.
    "spark.sql.hive.filesourcePartitionFileCacheSize": "0",
    # What was run is asked for right after; a thousand of each, Spark's default, is for a page that nobody opens here.
    "spark.ui.retainedJobs": "200",
    "spark.ui.retainedStages": "200",
    "spark.ui.retainedTasks": "2000",
    "spark.sql.ui.retainedExecutions": "100",
}
"""Set on sessions that Trickle starts itself."""

FOR_FEW_ROWS = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.constraintPropagation.enabled": "false",
    "spark.sql.maxSinglePartitionBytes": str(1 << 62),
    # Of relations whose rows nobody has seen yet, which a standing plan is made over: a join of many is as large as
    # all of them multiplied, and from the size above on its rows are exchanged.
    "spark.sql.defaultSizeInBytes": "1",
    # These move semi joins below what brings rows together, which then have to be exchanged.
    "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.PushDownLeftSemiAntiJoin,"
    "org.apache.spark.sql.catalyst.optimizer.PushLeftSemiLeftAntiThroughJoin",
}
"""Of a few thousand rows: to compile, to exchange or to send around would cost more than one task that does it all."""

MEANING = ("spark.sql.session.timeZone", "spark.sql.ansi.enabled", "spark.sql.caseSensitive")
"""What users may set on a running session that changes what queries give."""
OLDEST_JAVA = 17
_MEANWHILE = threading.RLock()
_DESKS: WeakKeyDictionary[SparkSession, SparkSession] = WeakKeyDictionary()
"""Desk → the session it belongs to."""
_AGREED: WeakKeyDictionary[SparkSession, dict[str, str]] = WeakKeyDictionary()
"""Desk → what it was last told of its session."""
_MADE_ACTIVE: WeakKeyDictionary[SparkSession, Any] = WeakKeyDictionary()
"""Session → what makes it the active one in its JVM."""


def start(settings: Settings) -> SparkSession:
    """The running session, or a new one as the settings say."""
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running is not None:
        return prepare(_DESKS.get(running, running))
    master = settings["spark.master"]
    require(settings)
    builder = SparkSession.builder.appName("trickle")
    builder = builder.remote(master) if master.startswith("sc://") else builder.master(master)
    if master.startswith("local"):
        # Python functions run in Python processes that Spark starts: with what this one has, not with any python3.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if not master.startswith("sc://"):
        for key, value in {**OWN, **_sized(settings)}.items():
            builder = builder.config(key, value)
    try:
        with progress(f"starting Spark on {master} …"):
            return prepare(builder.getOrCreate())
    except Exception as error:
        raise ConfigError(
            "spark could not be started",
            detail=str(error)[:1000],
            hint=f'check setting "spark.master" ({master}).',
        ) from error


def hush() -> None:
    """Spark's Python side logs every error that it raises as well: who catches it says it once."""
    from pyspark.logger import PySparkLogger

    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True


def prepare(spark: SparkSession) -> SparkSession:
    """Put the settings on a session that reading and writing lake files depends on."""
    for key, value in NEEDED.items():
        spark.conf.set(key, value)
    return spark


def desk(spark: SparkSession) -> SparkSession:
    """The same Spark with settings of its own, for statements over few rows that the driver holds.

    Spark Connect has no second session over one connection: there it is the session itself.
    """
    if is_connect(spark):
        return spark
    made = prepare(spark.newSession())
    for key, value in {**_set_since(spark, made), **FOR_FEW_ROWS}.items():
        made.conf.set(key, value)
    _DESKS[made] = spark
    return made


def agree(desk: SparkSession, spark: SparkSession) -> None:
    """Let expressions mean at the desk what they mean in the session it belongs to. Nobody else sets things there."""
    known = _AGREED.setdefault(desk, {})
    for key in MEANING if desk is not spark else ():
        if (value := spark.conf.get(key)) is not None and known.get(key) != value:
            desk.conf.set(key, value)
            known[key] = value


def agreed(desk: SparkSession) -> tuple[tuple[str, str], ...]:
    """What expressions mean at the desk, as it was last told."""
    return tuple(_AGREED.get(desk, {}).items())


def make_active(spark: SparkSession) -> None:
    """Let whoever asks Spark for the active session find this one."""
    from pyspark.sql import SparkSession

    if is_connect(spark):
        return
    if spark not in _MADE_ACTIVE:
        _MADE_ACTIVE[spark] = SparkSession._get_j_spark_session_class(spark._jvm).setActiveSession
    SparkSession._activeSession = spark
    _MADE_ACTIVE[spark](spark._jsparkSession)


def _set_since(spark: SparkSession, new: SparkSession) -> dict[str, str]:
    """What was set on a session while it ran, and may change what expressions mean."""
    old = new.conf.getAll
    return {k: v for k, v in spark.conf.getAll.items() if k.startswith("spark.sql.") and old.get(k) != v}


def run_in_pool(spark: SparkSession, name: str) -> None:
    """Jobs of this thread get their share beside those of other pools, if the session's scheduler is fair.

    Spark Connect has no pools.
    """
    if not is_connect(spark):
        spark.sparkContext.setLocalProperty("spark.scheduler.pool", name)


@contextmanager
def called(spark: SparkSession, what: str) -> Iterator[None]:
    """Jobs of this thread are for this; Spark need not walk its stack at each step of a plan to see who asks.

    PySpark says the short form itself.
    """
    if is_connect(spark):
        yield
        return
    context, site = spark.sparkContext, "callSite.long"
    before = context.getLocalProperty(site)
    context.setLocalProperty(site, what)
    try:
        yield
    finally:
        context.setLocalProperty(site, before)  # type: ignore[arg-type]


@contextmanager
def meanwhile(spark: SparkSession, setting: str, value: str) -> Iterator[None]:
    """A setting of the session has another value inside; one thread at a time, or one would put back another's."""
    with _MEANWHILE:
        before = spark.conf.get(setting)
        spark.conf.set(setting, value)
        try:
            yield
        finally:
            if before is None:
                spark.conf.unset(setting)
            else:
                spark.conf.set(setting, before)


@contextmanager
def compiled(desk: SparkSession) -> Iterator[None]:
    """What is planned inside is compiled, though it is planned at a desk: it will be run again and again."""
    with (
        meanwhile(desk, "spark.sql.codegen.wholeStage", "true"),
        meanwhile(desk, "spark.sql.codegen.factoryMode", "FALLBACK"),
    ):
        yield


def is_connect(spark: SparkSession) -> bool:
    return "connect" in type(spark).__module__


def _sized(settings: Settings) -> dict[str, str]:
    partitions = settings["spark.shuffle_partitions"] or os.cpu_count() or 2
    return {
        "spark.driver.memory": settings["spark.driver_memory"],
        "spark.sql.shuffle.partitions": str(partitions),
        "spark.scheduler.mode": settings["spark.scheduler_mode"],
    }


def require(settings: Settings) -> None:
    """What a session of these settings needs of this machine; a Connect client needs no Java."""
    if not settings["spark.master"].startswith("sc://"):
        require_java()


@dataclass(frozen=True)
class Java:
    path: str
    version: int | None


def require_java() -> Java:
    """The Java that Spark will run on; a clear word before Spark's launcher gives an unclear one."""
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    hint = f"install a JDK or JRE {OLDEST_JAVA} or newer (Debian: openjdk-17-jre-headless) and set JAVA_HOME."
    if not java or not os.path.exists(java):
        raise JavaMissing("no Java was found", detail="Spark runs on the Java virtual machine.", hint=hint)
    version = _java_version(java)
    if version is not None and version < OLDEST_JAVA:
        raise JavaMissing(f"Java {version} is too old for Spark", detail=f"found at {java}.", hint=hint)
    return Java(java, version)


def _java_version(java: str) -> int | None:
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    found = re.search(r'version "(\d+)(?:\.(\d+))?', said.stderr + said.stdout)
    if not found:
        return None
    major = int(found.group(1))
    return int(found.group(2) or 0) if major == 1 else major
