"""How stream tables are kept fresh, as their pages say it: explained once for each definition, not for each look."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..errors import TrickleError
from ..ops.explain import Explanation, sources
from ..ops.ledger import name_of
from ..registry.models import StreamTable

if TYPE_CHECKING:
    from ..session import Session

Sections = dict[str, Any]
Key = tuple[object, ...]


class Plans:
    """A page that is open asks every few seconds, and to compile a query takes longer than all else it says."""

    def __init__(self, db: Session) -> None:
        self.db = db
        self._lock = threading.Lock()
        self._known: dict[int, tuple[Key, Sections]] = {}

    def of(self, table: StreamTable) -> Sections:
        """Section by section; what the next refresh would read is asked each time."""
        try:
            return self._plan(table) | _sections(sources(self.db._streams, table))
        except TrickleError as error:
            return {"error": {"code": error.code, "message": error.message, "detail": error.detail, "hint": error.hint}}

    def _plan(self, table: StreamTable) -> Sections:
        # Whatever changes a source's columns, a view or a key is a new version of the lake's schema.
        key = (table.version, table.intermediates, self.db.lake.head().schema_version)
        with self._lock:
            before, found = self._known.get(table.id, ((), {}))
            if before != key:
                found = _sections(self.db.explain_st(name_of(table).quote_spark()))
                self._known[table.id] = key, found
        return found


def _sections(lines: Iterable[Explanation]) -> Sections:
    found: Sections = defaultdict(list)
    for line in lines:
        found[line.section].append({"item": line.item, "detail": line.detail})
    return dict(found)
