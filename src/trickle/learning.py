"""What a refresh spends once: on queries and statements that are new, and quicker from then on.

`AUTO` must know it, or the first refreshes of a table, and of a process, would stand for all that come.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class Learning:
    milliseconds: float = 0.0


_learning: ContextVar[Learning | None] = ContextVar("learning", default=None)


@contextmanager
def told_to(learning: Learning) -> Iterator[None]:
    """What is spent once inside, by this thread, is added to it.

    >>> with told_to(Learning()) as _, once():
    ...     pass
    """
    token = _learning.set(learning)
    try:
        yield
    finally:
        _learning.reset(token)


@contextmanager
def once(is_new: bool = True) -> Iterator[None]:
    """The time inside is not spent again, if this is new; what is new within counts with it."""
    learning = _learning.get()
    if learning is None or not is_new:
        yield
        return
    token, start = _learning.set(None), time.perf_counter()
    try:
        yield
    finally:
        _learning.reset(token)
        learning.milliseconds += (time.perf_counter() - start) * 1000
