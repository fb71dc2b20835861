"""Rows handed to Spark and taken back: what PySpark does, with fewer calls of the JVM.

Each call takes a quarter of a millisecond, and a small refresh makes one for every relation, setting and array item
that it asks for. Where the short way does not fit (Spark Connect, nested types) PySpark's own is taken.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pyarrow as pa
from pyarrow import ipc, types

from .spark import is_connect, meanwhile

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

FEW_ROWS = 40_000
"""Rows up to which one task goes through them sooner than several are begun."""
MOST_TASKS = 4
"""Tasks that more rows than that become: each batch is one."""
_BATCH = 10_000
"""Rows of one Arrow batch, as Spark has it."""
_HANDS: WeakKeyDictionary[SparkSession, tuple[Any, Any]] = WeakKeyDictionary()
"""Session → what reads rows from a file in its JVM, and what makes a DataFrame of them."""


def local_frame(
    spark: SparkSession, rows: pa.Table, schema: StructType | None = None, as_many: bool = False
) -> DataFrame:
    """Rows that the driver holds, as a DataFrame; `as_many`: of which Spark's planner knows nothing but the columns.

    In one piece: of a table in several, Spark 4.3 forgets what comes after an empty one.
    """
    whole, seen = rows.combine_chunks(), schema or seen_as(rows)
    if is_connect(spark) or not is_handed_over(spark, whole, seen):
        return spark.createDataFrame(whole) if schema is None else spark.createDataFrame(whole, schema)
    from pyspark.sql.classic.dataframe import DataFrame

    with _as_file(whole, seen, wants_large(spark)) as file, _spread(spark, as_many or whole.num_rows > FEW_ROWS):
        read, make = _hands(spark)
        frame = DataFrame(make(read(file), seen.json(), spark._jsparkSession), spark)
    frame.schema = seen  # what it would ask the JVM for
    return frame


def batches(spark: SparkSession, rows: pa.Table, seen: StructType, large: bool) -> Any:
    """The same rows as the JVM has them before it makes a DataFrame: a sequence of Arrow batches."""
    read, _ = _hands(spark)
    with _as_file(rows.combine_chunks(), seen, large) as file:
        return read(file).toSeq()


def seen_as(rows: pa.Table) -> StructType:
    """The columns that Spark sees in rows of which nobody said; times of no zone are instants of the session's."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(rows.schema, prefer_timestamp_ntz=False)


def is_handed_over(spark: SparkSession, rows: pa.Table, seen: StructType) -> bool:
    """Whether a file may take them to the JVM, and their values mean the same whatever the session's time zone is."""
    pairs = zip(rows.schema.types, seen.fields, strict=True)
    return not spark.sparkContext._encryption_enabled and all(
        _is_the_same_anywhere(kind, field.dataType.typeName()) for kind, field in pairs
    )


def wants_large(spark: SparkSession) -> bool:
    """Whether texts are sent in the form for more than two gigabytes."""
    return spark.conf.get("spark.sql.execution.arrow.useLargeVarTypes") == "true"


def _hands(spark: SparkSession) -> tuple[Any, Any]:
    if spark not in _HANDS:
        utils = spark.sparkContext._gateway.jvm.PythonSQLUtils  # type: ignore[union-attr]
        _HANDS[spark] = utils.readArrowStreamFromFile, utils.toDataFrame
    return _HANDS[spark]


@contextmanager
def _as_file(rows: pa.Table, seen: StructType, large: bool) -> Iterator[str]:
    """What `createDataFrame` sends, without some twenty calls of the JVM for settings and for names."""
    from pyspark.sql.pandas.types import to_arrow_schema

    typed = rows.cast(to_arrow_schema(seen, timezone="UTC", prefers_large_types=large))
    with tempfile.NamedTemporaryFile(prefix="trickle-") as file:
        with ipc.new_stream(file, typed.schema) as stream:
            if typed.num_rows == 0:
                stream.write_batch(pa.RecordBatch.from_pylist([], typed.schema))  # some bytes all the same
            stream.write_table(typed, max(_BATCH, typed.num_rows // MOST_TASKS))
        file.flush()
        yield file.name


def _spread(spark: SparkSession, many: bool) -> AbstractContextManager[None]:
    """Many rows go to tasks as they are; of few, Spark's planner makes rows of its own, and computes on them."""
    return meanwhile(spark, "spark.sql.execution.arrow.localRelationThreshold", "0") if many else nullcontext()


def queried(spark: SparkSession, text: str) -> DataFrame:
    """`spark.sql(text)`, which first makes a list of no parameters in the JVM."""
    if is_connect(spark):
        return spark.sql(text)
    from pyspark.sql.classic.dataframe import DataFrame

    return DataFrame(spark._jsparkSession.sql(text), spark)


def taken(frame: DataFrame) -> pa.Table:
    """`frame.toArrow()`, which first asks for settings and a schema, to tell what it is sent anyway."""
    if is_connect(frame.sparkSession):
        return frame.toArrow()
    batches = frame._collect_as_arrow(empty_list_if_zero_records=False)  # type: ignore[operator]
    return as_told(pa.Table.from_batches(batches), lambda: frame.schema)


def as_told(rows: pa.Table, schema: Callable[[], StructType]) -> pa.Table:
    """Rows that Spark sent, in the form that PySpark shows them."""
    if not any(map(_is_told_otherwise, rows.schema.types)):
        return rows
    from pyspark.sql.pandas.types import to_arrow_schema

    return rows.cast(to_arrow_schema(schema(), timezone="UTC"))


def _is_the_same_anywhere(kind: pa.DataType, seen: str) -> bool:
    if types.is_timestamp(kind):
        return kind.tz is not None or seen == "timestamp_ntz"
    return not types.is_nested(kind)


def _is_told_otherwise(kind: pa.DataType) -> bool:
    """Whether Spark may send the type in another form than PySpark shows it: instants in the session's time zone."""
    return bool(types.is_nested(kind) or (types.is_timestamp(kind) and kind.tz not in (None, "UTC")))
