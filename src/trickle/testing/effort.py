"""How much of a suite is run: a short form always, the full one and the long one on request."""

from __future__ import annotations

from enum import Enum


class Effort(Enum):
    SHORT = 0
    FULL = 1
    LONG = 2

    def of(self, short: int, full: int, long: int) -> int:
        """The size that this effort asks for.

        >>> Effort.FULL.of(5, 500, 5000)
        500
        """
        return (short, full, long)[self.value]
