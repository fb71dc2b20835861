"""Names for DataFrames that SQL reads: a refresh names a dozen, the same ones each time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from .spark import is_connect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MOST = 10_000
"""Names that are remembered of a session."""


@dataclass
class _Catalog:
    """What a session's JVM names views by, each found once."""

    catalog: Any
    relation: Callable[[Any, Any], Any]
    option: Callable[[Any], Any]
    known: dict[str, tuple[str, Any]] = field(default_factory=dict)
    """By name: the columns that a view had, and how Spark describes it."""

    @classmethod
    def of(cls, spark: SparkSession) -> _Catalog:
        if spark not in _CATALOGS:
            jvm: Any = spark.sparkContext._jvm
            relation = jvm.org.apache.spark.sql.catalyst.catalog.TemporaryViewRelation
            catalog = spark._jsparkSession.sessionState().catalog()
            _CATALOGS[spark] = cls(catalog, relation, jvm.scala.Option.apply)
        return _CATALOGS[spark]


_CATALOGS: WeakKeyDictionary[SparkSession, _Catalog] = WeakKeyDictionary()


def show(frame: DataFrame, name: str) -> None:
    """Let SQL read a DataFrame by the name.

    `createOrReplaceTempView` runs a command for that. A view of the same columns as before is the same but for its
    plan, and Spark's catalog takes it as it is.
    """
    spark = frame.sparkSession
    if is_connect(spark):
        frame.createOrReplaceTempView(name)
        return
    here, rows = _Catalog.of(spark), frame._jdf
    columns = frame.schema.json()
    before, description = here.known.get(name, ("", None))
    if before == columns:
        plan = rows.queryExecution().analyzed()
        here.catalog.createTempView(name, here.relation(description, here.option(plan)), True)
        return
    frame.createOrReplaceTempView(name)
    if len(here.known) >= _MOST:
        here.known.clear()
    here.known[name] = columns, here.catalog.getRawTempView(name).get().tableMeta()


def hide(spark: SparkSession, name: str) -> None:
    """The name means nothing any more."""
    if is_connect(spark):
        spark.catalog.dropTempView(name)
    else:
        _Catalog.of(spark).catalog.dropTempView(name)
