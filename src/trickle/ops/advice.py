"""What somebody who creates a stream table should know before relying on it: warnings instead of surprises."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

from ..dag.diamonds import diamonds
from ..errors import TrickleWarning
from ..refresh.compile import Compiled
from ..registry.models import StreamTable
from .graph import lake_graph
from .ledger import Ledger


def query_warnings(compiled: Compiled) -> tuple[str, ...]:
    """What the query alone says."""
    found = list(compiled.notes)
    if compiled.obstacle is not None:
        found.append(f"every refresh will be full: {compiled.obstacle.message}")
    elif compiled.storage is not None and compiled.storage.strategy == "rescan":
        found.append(f"affected groups are rescanned: {compiled.storage.reason}")
    return tuple(found)


def advice(ledger: Ledger, table: StreamTable, compiled: Compiled) -> Iterator[str]:
    """What the query says, its sources, and what it stands beside."""
    yield from query_warnings(compiled)
    yield from _keyless(compiled)
    yield from _diamond(ledger, table)


def _keyless(compiled: Compiled) -> Iterator[str]:
    """Rows that match by content, of sources that promise no key."""
    if compiled.storage is None or compiled.storage.key is not None:
        return
    bare = [t.label for t in compiled.tables.values() if not t.primary_key and t.schema != "trickle"]
    if bare:
        yield f"no key: {', '.join(sorted(bare))} without PRIMARY KEY, so rows are matched by all their columns"


def _diamond(ledger: Ledger, table: StreamTable) -> Iterator[str]:
    if sum(d.is_stream_table for d in table.dependencies) == 0 or len(table.dependencies) < 2:
        return
    for diamond in diamonds(lake_graph(ledger)):
        if diamond.meets == table.label:
            how = "are committed together by schedulers"
            if table.options.get("diamond_consistency") != "atomic":
                how = "may be of different snapshots: set diamond_consistency = 'atomic'"
            members, parts = ", ".join(sorted(diamond.members)), ", ".join(sorted(diamond.parts))
            yield f"a diamond: {members} follow {parts}, and {how}"


def warn(ledger: Ledger, table: StreamTable, compiled: Compiled) -> None:
    """Say so, as Python's warnings are said."""
    for text in advice(ledger, table, compiled):
        warnings.warn(f'stream table "{table.label}": {text}', TrickleWarning, stacklevel=5)
