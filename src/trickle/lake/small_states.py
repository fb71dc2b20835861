"""Small tables that the driver holds: one that did not change since is not read and handed to Spark again."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from .held import Held
from .kept import Kept
from .scan import ScanRequest

HOLDERS = 2
"""Each state is held twice: here, and by Spark, which was handed it."""


class SmallStates:
    """The small states read last, by the files and the deletes that they consist of."""

    def __init__(self, most_bytes: int) -> None:
        self.kept: Kept[Held] = Kept(most_bytes)

    def get(self, request: ScanRequest, read: Callable[[], Held | None]) -> Held | None:
        """The rows of the request, read if they are not known; None where they are not to be had."""
        key = _key(request)
        found = self.kept.get(key)
        if found is not None:
            return found
        held = read()
        if held is not None and key is not None:
            self.kept.put(key, held, HOLDERS * held.rows.nbytes)
        return held


def _key(request: ScanRequest) -> Hashable | None:
    """None where the files alone do not tell the rows: inlined ones, and files that hold later rows too."""
    files = [piece.file for piece in request.pieces]
    mixed = (part.partial_max for f in files for part in (f, f.delete) if part is not None)
    if request.inlined or any(most is not None for most in mixed):
        return None
    columns = tuple((c.id, c.name, c.type) for c in request.table.columns)
    return request.table.id, columns, tuple((f.id, f.delete, f.inlined_deletes) for f in files)
