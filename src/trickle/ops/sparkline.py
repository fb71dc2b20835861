"""Numbers as a line of bars."""

from __future__ import annotations

from collections.abc import Sequence

BARS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float]) -> str:
    """The values as bars, from nothing to the greatest.

    >>> sparkline([0, 50, 100]), sparkline([])
    ('▁▅█', '')
    """
    most = max(values, default=0) or 1
    return "".join(BARS[round(v / most * (len(BARS) - 1))] for v in values)
