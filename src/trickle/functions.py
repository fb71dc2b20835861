"""The functions of a session as SQL sees them: `CALL trickle.fn(…)`, `SELECT * FROM trickle.fn(…)`."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import UnionType
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .errors import NotFound, QueryError
from .handing import local_frame
from .sql.grammar.relations import Reference

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from .session import Session

FUNCTIONS = (
    "advance_watermark",
    "alter_stream_table",
    "bootstrap_gate_status",
    "change_stats",
    "check_keys",
    "clean_files",
    "cluster",
    "collect_orphans",
    "column_lineage",
    "create_function",
    "create_or_replace_stream_table",
    "create_refresh_group",
    "create_stream_table",
    "create_stream_table_if_not_exists",
    "create_watermark_group",
    "dependencies",
    "dependency_tree",
    "diagnose_errors",
    "drop_function",
    "drop_refresh_group",
    "drop_stream_table",
    "drop_watermark_group",
    "expire_snapshots",
    "explain_query_rewrite",
    "explain_refresh_mode",
    "explain_st",
    "functions",
    "fuse_status",
    "gate_source",
    "graph",
    "head",
    "health_check",
    "list_auxiliary_columns",
    "maintenance_history",
    "merge_files",
    "metrics_summary",
    "pause",
    "protect_snapshot",
    "quick_health",
    "recommend_clustering",
    "recommend_refresh_mode",
    "recommend_schedule",
    "refresh_all",
    "refresh_groups",
    "refresh_history",
    "refresh_metrics",
    "refresh_stream_table",
    "release_snapshot",
    "reset_fuse",
    "resume",
    "rewrite_deletes",
    "schedule_recommendations",
    "snapshots",
    "source_gates",
    "stream_table_status",
    "stream_tables",
    "table_constraints",
    "tables",
    "ungate_source",
    "validate_query",
    "version",
    "watermark_groups",
    "watermark_status",
    "watermarks",
)
RELATIONS = (
    "dependencies",
    "functions",
    "maintenance_history",
    "refresh_groups",
    "refresh_history",
    "snapshots",
    "source_gates",
    "stream_tables",
    "table_constraints",
    "watermark_groups",
    "watermarks",
)
"""Functions that can also be read like a table: `SELECT * FROM trickle.stream_tables`."""


def call(session: Session, function: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Run one function by name."""
    name = function.casefold()
    if name not in FUNCTIONS:
        raise NotFound(f'function "trickle.{function}" does not exist', hint=f"there are: {', '.join(FUNCTIONS)}.")
    method = getattr(session, name)
    try:
        inspect.signature(method).bind(*args, **kwargs)
    except TypeError as error:
        raise QueryError(
            f"trickle.{name} was called wrongly",
            detail=str(error),
            hint=f"its arguments are {inspect.signature(method)}.",
        ) from None
    return method(*args, **kwargs)


def relation(session: Session, reference: Reference) -> DataFrame | None:
    """The rows of a function or of a registry table; None if the reference is neither."""
    if reference.function is not None:
        found = reference.function
        return frame(session, found.function, call(session, found.function, found.args, dict(found.kwargs)))
    name = reference.name
    if (name.schema or "").casefold() != "trickle" or name.name.casefold() not in RELATIONS:
        return None
    limit = {"limit": 1_000_000} if name.name.casefold().endswith("_history") else {}
    return frame(session, name.name, call(session, name.name, (), limit))


def frame(session: Session, function: str, result: Any) -> DataFrame:
    """What a function gave as a DataFrame: a record is a row, a plain value a row of one column."""
    schema = columns(type(session), function.casefold())
    rows = [_row(value) for value in (result if isinstance(result, list) else [result])]
    return local_frame(session.spark, pa.Table.from_pylist(rows, schema=schema))


def columns(session: type[Session], function: str) -> pa.Schema:
    """The columns of what a function gives: by what it is said to give, whether there are rows or not."""
    given = typing.get_type_hints(getattr(session, function))["return"]
    if isinstance(typing.get_origin(given), type) and issubclass(typing.get_origin(given), list):
        [given] = typing.get_args(given)
    if not dataclasses.is_dataclass(given):
        return pa.schema([("value", _type(given))])
    told = typing.get_type_hints(given)
    return pa.schema([(field.name, _type(told[field.name])) for field in dataclasses.fields(given)])


def _row(value: Any) -> dict[str, Any]:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    return {"value": _plain(value)}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str | datetime):
        return value
    if isinstance(value, list | tuple):
        return [str(v) for v in value]
    return str(value)


def _type(told: Any) -> pa.DataType:
    """
    >>> str(_type(int | None)), str(_type(tuple[str, ...])), str(_type(type(None)))
    ('int64', 'list<item: string>', 'string')
    """
    if isinstance(told, UnionType):
        [told] = (kind for kind in typing.get_args(told) if kind is not type(None))
    return _TYPES.get(typing.get_origin(told) or told, pa.string())


_TYPES: Mapping[Any, pa.DataType] = {
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    datetime: pa.timestamp("us", "UTC"),
    list: pa.list_(pa.string()),
    tuple: pa.list_(pa.string()),
}
"""What a field is said to be, and the type of its column; whatever else it is becomes text."""
