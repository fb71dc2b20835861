"""What comes again and again is kept; what came once, and what would push out something wanted more often, is not.

Where the longest unused goes, going round through one thing more than there is place for keeps nothing: each is gone
when it comes again. Here as many as there is place for stay.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
REMEMBERED = 20
"""For each place, so many of those that have none are remembered, by their hashes alone."""


@dataclass
class Regulars(Generic[K, V]):
    """
    >>> guests = Regulars[str, int](places=1, after=1)
    >>> guests.is_regular("Ada"), guests.is_regular("Ada")
    (False, True)
    >>> guests.keep("Ada", 7)
    >>> guests.get("Ada"), guests.get("Emmy", 0)
    (7, 0)
    """

    places: int
    after: int
    """Times that something comes before it is regular."""
    _now: int = 0
    _kept: OrderedDict[K, tuple[V, int]] = field(default_factory=OrderedDict)
    """With when it was wanted last; the longest unused first."""
    _came: OrderedDict[int, tuple[int, int]] = field(default_factory=OrderedDict)
    """How often, and when last."""

    def get(self, key: K, default: V | None = None) -> V | None:
        """What is kept; it is wanted now."""
        if key not in self._kept:
            return default
        value, _ = self._kept[key]
        self.keep(key, value)
        return value

    def is_regular(self, key: K) -> bool:
        """Of what is not kept and comes now: whether to keep it. It must have come, and sooner than others."""
        times, last = self._came.pop(hash(key), (0, 0))
        self._came[hash(key)] = times + 1, self._tick()
        while len(self._came) > REMEMBERED * self.places:
            self._came.popitem(last=False)
        return times >= self.after and (len(self._kept) < self.places or last > self._longest_unused)

    def is_new(self, key: K) -> bool:
        """Whether it came too seldom yet."""
        return key not in self._kept and self._came.get(hash(key), (0, 0))[0] <= self.after

    def keep(self, key: K, value: V) -> None:
        self._came.pop(hash(key), None)
        self._kept[key] = value, self._tick()
        self._kept.move_to_end(key)
        while len(self._kept) > self.places:
            self._kept.popitem(last=False)

    @property
    def _longest_unused(self) -> int:
        return next(iter(self._kept.values()))[1]

    def _tick(self) -> int:
        self._now += 1
        return self._now
