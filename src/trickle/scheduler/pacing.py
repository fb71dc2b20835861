"""When things are done: again after a while, not at every tick; and how long they take."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass
class Due:
    """Something done every so many seconds."""

    seconds: float
    last: float = float("-inf")

    def now(self) -> bool:
        if time.monotonic() - self.last < self.seconds:
            return False
        self.last = time.monotonic()
        return True


@dataclass
class Usual:
    """How long something takes, and how far it strays from that: the last ones count most.

    >>> usual = Usual()
    >>> for seconds in (1.0, 1.0, 1.0, 1.0, 3.0):
    ...     usual.add(seconds)
    >>> round(usual.mean, 2), round(usual.nearly_always, 2)
    (2.0, 4.06)
    """

    mean: float = 0.0
    strays: float = 0.0

    def add(self, seconds: float) -> None:
        if self.mean:
            self.strays += (abs(seconds - self.mean) - self.strays) / 2
            self.mean += (seconds - self.mean) / 2
        else:
            self.mean, self.strays = seconds, seconds / 2

    @property
    def nearly_always(self) -> float:
        """Seconds within which it is nearly always done."""
        return self.mean + 2 * self.strays
