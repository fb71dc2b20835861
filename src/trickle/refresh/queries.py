"""Compiled queries, kept until a change of definitions concerns them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..execute.transaction import Transaction
from ..lake.draft import Draft
from ..lake.lake import Lake
from ..lake.model import Snapshot
from ..learning import once
from ..registry.models import StreamTable
from . import intermediates
from .compile import Compiled, compile_query, means_the_same

MOST = 4096


@dataclass
class Queries:
    lake: Lake
    _known: dict[tuple[int, int, int], Compiled] = field(default_factory=dict)
    """By stream table, version of its definition, and version of the lake's schema."""
    _latest: dict[int, tuple[int, Compiled]] = field(default_factory=dict)

    def at(self, table: StreamTable, at: Snapshot) -> Compiled:
        """The query as it stands at a snapshot."""
        key = (table.id, table.version, at.schema_version)
        found = self._known.get(key)
        if found is None:
            with once():
                found = self._understood(table, at)
            _put(self._known, key, found)
            _put(self._latest, table.id, (table.version, found))
        return found

    def _understood(self, table: StreamTable, at: Snapshot) -> Compiled:
        """Anew, unless what changed in the lake does not concern it: then with all that was made of it."""
        version, before = self._latest.get(table.id, (None, None))
        transaction = Transaction(self.lake, Draft(at))
        if before is None or version != table.version or not means_the_same(transaction, before.entire):
            float_sums = table.options.get("float_sums", "algebraic") == "algebraic"
            before, whole = None, compile_query(transaction, table.query, table.dialect, float_sums)
        else:
            whole = before.entire
        found = intermediates.in_use(self.lake, table, whole, at)
        return before if before is not None and intermediates.are_the_same(before, found) else found


def _put(known: dict[Any, Any], key: object, value: object) -> None:
    """What came first goes first."""
    if len(known) >= MOST:
        known.pop(next(iter(known)), None)
    known[key] = value
