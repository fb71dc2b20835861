"""User-defined functions as Spark knows them: Python ones registered, their calls in texts renamed."""

from __future__ import annotations

import pickle
import sys
import warnings
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from ..errors import QueryError
from ..lake.foreign import translated
from ..lake.lake import Lake
from ..plan.functions import Function, Kind
from ..sql.calls import called, expanded
from ..sql.labels import written_labels

_REGISTERED: WeakKeyDictionary[SparkSession, set[str]] = WeakKeyDictionary()
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


def for_spark(lake: Lake, text: str) -> str:
    """The text as Spark understands it, with the functions it calls registered."""
    functions = lake.functions(called(text))
    register(lake, functions.values())
    return expanded(text, functions)


def named_as_written(frame: DataFrame, text: str) -> DataFrame:
    """The rows of a query, columns that are named after a call named after what was written."""
    labels = written_labels(text)
    if len(labels) != len(frame.columns):
        return frame
    return frame.toDF(*(label or name for label, name in zip(labels, frame.columns, strict=True)))


def register(lake: Lake, functions: Iterable[Function]) -> None:
    """Let Spark know the Python ones among the functions, each once per session."""
    for function in functions:
        if function.kind is Kind.SQL:
            continue
        known = _REGISTERED.setdefault(lake.spark, set())
        if function.engine_name not in known:
            _register(lake.spark, function)
            known.add(function.engine_name)


def _register(spark: SparkSession, function: Function) -> None:
    run = loaded(function)
    with warnings.catch_warnings():
        # Type hints that say nothing of Arrow or pandas are no reason to warn.
        warnings.filterwarnings("ignore", "Cannot infer the eval type")
        made = F.udf(_of_rows(run) if function.kind is Kind.AGGREGATE else run, function.returns)
    with translated(f'function "{function.name}"'):
        spark.udf.register(function.engine_name, made if function.deterministic else made.asNondeterministic())


def loaded(function: Function) -> Callable[..., Any]:
    """The Python function itself: unpickling runs code, which is why lakes have to be trusted."""
    version, _, pickled = function.code.partition(b"\n")
    if version.decode() != PYTHON:
        raise QueryError(
            f'function "{function.name}" was created with Python {version.decode()}',
            detail=f"this is Python {PYTHON}, which cannot read it.",
            hint="create it again with replace=True.",
        )
    try:
        return pickle.loads(pickled)  # type: ignore[no-any-return]
    except Exception as error:
        raise QueryError(
            f'function "{function.name}" cannot be loaded', detail=str(error), hint="install the modules it needs."
        ) from error


def _of_rows(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """The aggregate over a list of rows; of none it is NULL."""

    # Nested, so that it travels to executors by value: they need not have this package.
    def aggregate(rows: Any) -> Any:
        import pandas as pd

        if not rows:
            return None
        found = function(*(pd.Series([row[n] for row in rows]) for n in range(len(rows[0]))))
        value = found.item() if hasattr(found, "item") else found
        return None if value is pd.NA or value is pd.NaT else value

    return aggregate


def is_builtin(lake: Lake) -> Callable[[str], bool]:
    """Whether Spark itself has a function; Spark is asked when the first name comes up."""
    return lambda name: name in _builtins(lake.spark)


@lru_cache(maxsize=4)
def _builtins(spark: SparkSession) -> frozenset[str]:
    names = spark.sql("SHOW SYSTEM FUNCTIONS").toArrow().column(0).to_pylist()
    return frozenset(str(name).casefold() for name in names)
