"""Things that are kept for the next who asks, up to a number of bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Kept(Generic[T]):
    """What was not asked for longest leaves first; what is larger than the budget is not kept at all.

    >>> kept = Kept[str](10)
    >>> for name in "abc":
    ...     kept.put(name, name.upper(), 4)
    >>> kept.get("a"), kept.get("c"), kept.bytes
    (None, 'C', 8)
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes, self.bytes = most_bytes, 0
        self._held: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._lock = threading.Lock()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._held

    def __iter__(self) -> Iterator[Hashable]:
        with self._lock:
            return iter(list(self._held))

    def get(self, key: Hashable) -> T | None:
        with self._lock:
            if key not in self._held:
                return None
            self._held.move_to_end(key)
            return self._held[key][0]

    def put(self, key: Hashable, value: T, bytes: int) -> None:
        if bytes > self.most_bytes:
            return
        with self._lock:
            self.bytes += bytes - self._held.pop(key, (None, 0))[1]
            self._held[key] = value, bytes
            while self.bytes > self.most_bytes:
                self.bytes -= self._held.popitem(last=False)[1][1]

    def forget(self, is_gone: Callable[[Any], bool]) -> None:
        """What nobody will ask for again leaves now."""
        with self._lock:
            for key in [key for key in self._held if is_gone(key)]:
                self.bytes -= self._held.pop(key)[1]
