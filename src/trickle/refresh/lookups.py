"""States that a change looks up by key: of those, only what can hold the keys is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from sqlglot import exp

from ..lake.model import Bound, Column, DataFile, Table
from ..lake.types import to_arrow
from ..plan import (
    CONTRIBUTIONS,
    KEYS,
    Distinct,
    Filter,
    Join,
    Node,
    OuterJoin,
    Project,
    Scan,
    SemiJoin,
    Version,
    conjuncts,
    is_reserved,
    rebuild,
)
from ..sql.names import quote_spark

MOST_KEYS = 2000
"""Keys that files are pruned by one by one; of more, the least and the greatest."""
MOST_LISTED = 500
"""Keys that Spark's reader is told."""
MANY_ROWS = 4_000_000
"""Rows from which on it is told them: to read fewer costs less than to plan for other keys each time."""
Read = tuple[str, Version]
_HANDED = frozenset({CONTRIBUTIONS, KEYS})


@dataclass(frozen=True)
class Key:
    """Where the keys stand: a relation that the driver holds, and its column."""

    relation: Read
    column: str


@dataclass(frozen=True)
class Lookup:
    """A state read through a relation of its own: of each column named, only rows with one of the keys count."""

    table: str
    version: Version
    keys: tuple[tuple[str, Key], ...]
    null_safe: bool = False
    """Whether a NULL key finds NULLs."""


def bounds(lookup: Lookup, table: Table, held: Mapping[Read, pa.Table]) -> list[Bound]:
    """What the keys that the driver holds tell about the rows that are looked up."""
    found = []
    for name, key in lookup.keys:
        column = table.column(name)
        keys = held.get(key.relation)
        if column is None or column.children or keys is None:
            continue
        bound = key_bound(column, keys.column(key.column), lookup.null_safe)
        if bound is not None:
            found.append(bound)
    return found


def key_bound(column: Column, keys: pa.ChunkedArray, null_safe: bool) -> Bound | None:
    """The column is one of the keys; None where that says nothing about files."""
    type = to_arrow([column])[0].type
    if not _comparable(type, keys.type):
        return None
    or_null = null_safe and keys.null_count > 0
    values = pc.unique(keys.drop_null())
    if len(values) <= MOST_KEYS:
        return Bound(column.name, values=tuple(sorted(values.to_pylist())), or_null=or_null)
    ends = pc.min_max(values)
    return Bound(column.name, low=ends["min"].as_py(), high=ends["max"].as_py(), or_null=or_null)


def _comparable(state: pa.DataType, key: pa.DataType) -> bool:
    """Whether a key equals a stored value exactly if Python says so."""
    if pa.types.is_floating(state) or pa.types.is_binary(state) or pa.types.is_boolean(state):
        return False
    return bool(state == key or (pa.types.is_integer(state) and pa.types.is_integer(key)))


def sought(frame: DataFrame, files: Sequence[DataFile], bounds: Sequence[Bound]) -> DataFrame:
    """The state; of a large one Spark's reader is told the keys, so that it skips row groups and pages."""
    asked = condition(bounds) if sum(f.records for f in files) > MANY_ROWS else None
    return frame if asked is None else frame.where(asked)


def condition(bounds: Sequence[Bound]) -> str | None:
    """The bounds as Spark SQL, for readers that skip pages and row groups; None where there is none to say.

    >>> condition([Bound("k", values=(1, 2), or_null=True)])
    '(`k` IN (1, 2) OR `k` IS NULL)'
    """
    texts = [text for bound in bounds if (text := _condition(bound)) is not None]
    return " AND ".join(texts) if texts else None


def _condition(bound: Bound) -> str | None:
    name = quote_spark(bound.column)
    if bound.values is None:
        ends = [literal(bound.low), literal(bound.high)]
        asked = None if None in ends else f"{name} BETWEEN {ends[0]} AND {ends[1]}"
    else:
        values = [literal(v) for v in bound.values]
        if not values or len(values) > MOST_LISTED or None in values:
            return None
        asked = f"{name} IN ({', '.join(v for v in values if v is not None)})"
    if asked is None:
        return None
    return f"({asked} OR {name} IS NULL)" if bound.or_null else f"({asked})"


def literal(value: object) -> str | None:
    """The value as Spark SQL, None for those that are not worth it.

    >>> literal(7), literal("it's"), literal(1.5)
    ('7', "'it\\\\'s'", None)
    """
    match value:
        case bool():
            return None
        case int():
            return f"{value}L" if abs(value) >= 1 << 31 else str(value)
        case str():
            escaped = value.replace("\\", "\\\\").replace("'", "\\'")
            return f"'{escaped}'"
        case datetime():
            return None
        case date():
            return f"DATE'{value.isoformat()}'"
        case _:
            return None


def looked_up(plan: Node) -> tuple[Node, dict[str, Lookup]]:
    """The plan with scans renamed that are joined to a change by equality, and what each new name stands for."""
    found: dict[Lookup, str] = {}

    def visit(node: Node) -> Node:
        match node:
            case Join():
                parts = [_narrowed(p, _links(node.on, p, _others(node.parts, p)), found) for p in node.parts]
                return replace(node, parts=tuple(parts))
            case SemiJoin() if not node.anti:
                return replace(node, left=_narrowed(node.left, _links(node.on, node.left, [node.right]), found))
            case OuterJoin() if not node.full:
                return replace(node, right=_narrowed(node.right, _links(node.on, node.right, [node.left]), found))
            case _:
                return node

    renamed = rebuild(plan, visit)
    return renamed, {name: lookup for lookup, name in found.items()}


def _others(parts: tuple[Node, ...], part: Node) -> list[Node]:
    return [p for p in parts if p is not part]


def _links(on: exp.Expr, state: Node, changes: list[Node]) -> list[tuple[str, Key, bool]]:
    """(column of the state, key, whether NULL finds NULL) of every equality between the state and a change."""
    mine = _leaf(state)
    if mine is None or mine[0].version is Version.CHANGES or is_reserved(mine[0].table):
        return []
    found = []
    for condition in conjuncts(on):
        if not isinstance(condition, exp.EQ | exp.NullSafeEQ):
            continue
        for here, there in ((condition.left, condition.right), (condition.right, condition.left)):
            column = _column(mine[1], here)
            key = next((k for change in changes if (k := _key(change, there)) is not None), None)
            if column is not None and key is not None:
                found.append((column, key, isinstance(condition, exp.NullSafeEQ)))
    return found


def _key(change: Node, expression: exp.Expr) -> Key | None:
    leaf = _leaf(change)
    if leaf is None or not (leaf[0].version is Version.CHANGES or leaf[0].table in _HANDED):
        return None
    column = _column(leaf[1], expression)
    return None if column is None else Key((leaf[0].table, leaf[0].version), column)


def _column(names: dict[str, str], expression: exp.Expr) -> str | None:
    inner = expression.unnest()
    return names.get(inner.name) if isinstance(inner, exp.Column) else None


def _leaf(node: Node) -> tuple[Scan, dict[str, str]] | None:
    """The scan that the rows come from, and which of its columns each column is, where it is one."""
    match node:
        case Scan():
            return node, {f.column.name: f.source for f in node.fields}
        case Filter() | Distinct():
            return _leaf(node.input)
        case SemiJoin() if not node.anti:
            return _leaf(node.left)
        case Project():
            below = _leaf(node.input)
            if below is None:
                return None
            pairs = ((i.name, _column(below[1], i.expression)) for i in node.items)
            return below[0], {name: column for name, column in pairs if column is not None}
        case _:
            return None


def _narrowed(part: Node, links: list[tuple[str, Key, bool]], found: dict[Lookup, str]) -> Node:
    scan = next(_scans(part), None)
    if not links or scan is None or scan.table in found.values():
        return part
    null_safe = any(safe for _, _, safe in links)
    lookup = Lookup(scan.table, scan.version, tuple((column, key) for column, key, _ in links), null_safe)
    name = found.setdefault(lookup, _named(lookup))

    def rename(node: Node) -> Node:
        return replace(node, table=name) if node is scan and isinstance(node, Scan) else node

    return rebuild(part, rename)


def _named(lookup: Lookup) -> str:
    """A name that tells what is looked up by what: the same each time."""
    by = ", ".join(f"{column} = {key.relation[0]}.{key.column}" for column, key in lookup.keys)
    return f"{lookup.table} {lookup.version.value} by {by}"


def _scans(node: Node) -> Iterator[Scan]:
    """The scans below, the one that rows come from first."""
    if isinstance(node, Scan):
        yield node
    for child in node.inputs:
        yield from _scans(child)
