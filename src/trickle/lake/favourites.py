"""Things that are kept, up to a number of bytes, as long as they are wanted more often than others.

Where what was not asked for longest leaves first, going again and again through a little more than there is place for
keeps nothing, and so does a stream of things that are wanted for a moment. Here both are told apart (as by W-TinyLFU):
what came last has a part of the place for itself; when it has to leave that, it takes the place of what was not asked
for longest among all others only if it was wanted more often.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")
LAST = 4
"""The part of the place for what came last."""
PERIOD = 10
"""After so many questions for each thing that is kept, what was wanted before counts half."""


class Favourites(Generic[T]):
    """
    >>> kept = Favourites[str](8)
    >>> for name in "aabbc":
    ...     if kept.get(name) is None:
    ...         kept.put(name, name.upper(), 2)
    >>> kept.get("a"), kept.get("d"), kept.bytes
    ('A', None, 6)
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._last: _Part[T] = _Part(most_bytes // LAST)
        self._proven: _Part[T] = _Part(most_bytes - most_bytes // LAST)
        self._wishes = _Wishes()
        self._lock = threading.Lock()

    @property
    def bytes(self) -> int:
        return self._last.bytes + self._proven.bytes

    def __contains__(self, key: Hashable) -> bool:
        return key in self._last.held or key in self._proven.held

    def __iter__(self) -> Iterator[Hashable]:
        with self._lock:
            return iter([*self._last.held, *self._proven.held])

    def __len__(self) -> int:
        return len(self._last.held) + len(self._proven.held)

    def get(self, key: Hashable) -> T | None:
        """What is not there was wanted, too."""
        with self._lock:
            self._wishes.count(key, among=len(self))
            found = self._last.get(key)
            return self._proven.get(key) if found is None else found

    def put(self, key: Hashable, value: T, bytes: int) -> None:
        with self._lock:
            self._last.drop(key)
            self._proven.drop(key)
            if bytes > self._last.most_bytes:
                self._settle(key, value, bytes)
                return
            self._last.put(key, value, bytes)
            while self._last.is_full:
                self._settle(*self._last.pop())

    def forget(self, is_gone: Callable[[Any], bool]) -> None:
        """What nobody will ask for again leaves now."""
        with self._lock:
            for part in (self._last, self._proven):
                for key in [key for key in part.held if is_gone(key)]:
                    part.drop(key)
            self._wishes.forget(is_gone)

    def _settle(self, key: Hashable, value: T, bytes: int) -> None:
        """Among the others, if those that would have to leave were wanted less often; or else it leaves."""
        wanted, room, leaving = self._wishes.of(key), self._proven.room, []
        for rival, (_, size) in self._proven.held.items():
            if room >= bytes or self._wishes.of(rival) >= wanted:
                break
            leaving.append(rival)
            room += size
        if room >= bytes:
            for rival in leaving:
                self._proven.drop(rival)
            self._proven.put(key, value, bytes)


class _Part(Generic[T]):
    """What was not asked for longest stands first."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes, self.bytes = most_bytes, 0
        self.held: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()

    @property
    def room(self) -> int:
        return self.most_bytes - self.bytes

    @property
    def is_full(self) -> bool:
        return self.room < 0

    def get(self, key: Hashable) -> T | None:
        if key not in self.held:
            return None
        self.held.move_to_end(key)
        return self.held[key][0]

    def put(self, key: Hashable, value: T, bytes: int) -> None:
        self.held[key] = value, bytes
        self.bytes += bytes

    def drop(self, key: Hashable) -> None:
        if key in self.held:
            self.bytes -= self.held.pop(key)[1]

    def pop(self) -> tuple[Hashable, T, int]:
        key, (value, bytes) = self.held.popitem(last=False)
        self.bytes -= bytes
        return key, value, bytes


class _Wishes:
    """How often things were wanted lately; what is asked for several times in a row was wanted once."""

    def __init__(self) -> None:
        self._counts: dict[Hashable, tuple[int, int]] = {}
        """How often, and the number of the question that was counted last."""
        self._now = self._halved = 0

    def of(self, key: Hashable) -> int:
        return self._counts.get(key, (0, 0))[0]

    def count(self, key: Hashable, among: int) -> None:
        self._now += 1
        count, last = self._counts.get(key, (0, -among - 1))
        if self._now - last > among:
            self._counts[key] = count + 1, self._now
        if self._now - self._halved > PERIOD * max(among, 100):
            self._counts = {key: (n // 2, last) for key, (n, last) in self._counts.items() if n > 1}
            self._halved = self._now

    def forget(self, is_gone: Callable[[Any], bool]) -> None:
        self._counts = {key: count for key, count in self._counts.items() if not is_gone(key)}
