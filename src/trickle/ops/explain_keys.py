"""Explanations of declared keys: which of them the next refresh relies upon, and what it leaves out for them."""

from __future__ import annotations

from collections.abc import Iterator

from ..delta.declared import Declared, Use, arranged, rely
from ..delta.state import Storage
from ..errors import TrickleError
from ..lake.model import ForeignKey, Table
from ..refresh.change_sql import stored_change
from ..refresh.compile import Compiled
from ..refresh.declared import declared
from ..refresh.look import Look
from ..registry.models import StreamTable
from .streams import Streams


def relied_upon(streams: Streams, table: StreamTable, compiled: Compiled) -> Iterator[tuple[str, str]]:
    """Each foreign key between the tables of a query, and what becomes of it."""
    pairs = list(_pairs(compiled))
    if not pairs or compiled.storage is None:
        return
    try:
        look = streams.refresher.look(table)
    except TrickleError:
        look = Look(streams.lake.head(), {})
    known = declared(streams.lake, compiled, look)
    uses = {use for storage in _storages(compiled) for use in _uses(storage, known, look.unchanged)}
    for child, key, parent in pairs:
        found = sorted(use.effect for use in uses if use.reference.name == key.name)
        item = f"{key.name}: {_side(child, key.columns)} → {_side(parent, key.references)}"
        yield item, "; ".join(found) or _why_not(streams, table, key, parent)


def _pairs(compiled: Compiled) -> Iterator[tuple[Table, ForeignKey, Table]]:
    tables = {t.uuid: t for t in compiled.tables.values()}
    for child in tables.values():
        for key in child.foreign_keys:
            parent = tables.get(key.table)
            if parent is not None and all(parent.column_by_id(id) for id in key.references):
                yield child, key, parent


def _storages(compiled: Compiled) -> Iterator[Storage]:
    for part in (compiled, *(kept.compiled for kept in compiled.kept)):
        if part.storage is not None:
            yield part.storage


def _uses(storage: Storage, known: Declared, unchanged: frozenset[str]) -> tuple[Use, ...]:
    return rely(stored_change(arranged(storage, known), unchanged), known)[1]


def _side(table: Table, ids: tuple[int, ...]) -> str:
    names = {c.id: c.name for c in table.columns}
    return f"{table.label} ({', '.join(names[id] for id in ids)})"


def _why_not(streams: Streams, table: StreamTable, key: ForeignKey, parent: Table) -> str:
    if not key.rely:
        return "not relied upon: declared without RELY"
    if parent.key is None or not parent.key.rely or set(parent.key.columns) != set(key.references):
        return f"not relied upon: {parent.label} has no primary key of these columns with RELY"
    if not streams.lake.settings["refresh.rely_on_keys"]:
        return "not relied upon: refresh.rely_on_keys is off"
    since = max(key.since, parent.key.since)
    if table.frontier is not None and table.frontier < since:
        return f"not relied upon yet: it was declared in snapshot {since}, after the frontier"
    return "relied upon; nothing to leave out at the next refresh"
