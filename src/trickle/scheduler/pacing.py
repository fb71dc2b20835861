"""What is done again after a while, not at every tick."""

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
