"""A word on what takes long, on terminals only: it turns while it lasts, and then it is gone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.status import Status

_SILENT = False
"""Somebody else draws on this terminal."""
_SHOWN: list[tuple[Status, str]] = []
"""What is shown, the innermost last; all share one line."""


@contextmanager
def progress(text: str) -> Iterator[None]:
    """Shown while the work is done, if a person is watching; what that work shows of its own takes its place."""
    if _SILENT or not _is_watched():
        yield
    elif _SHOWN:
        with _shown(_SHOWN[-1][0], text):
            yield
    else:
        from rich.console import Console

        with Console(file=sys.stderr).status("") as status, _shown(status, text):
            yield


@contextmanager
def _shown(status: Status, text: str) -> Iterator[None]:
    from rich.text import Text

    status.update(Text(text))
    _SHOWN.append((status, text))
    try:
        yield
    finally:
        _SHOWN.pop()
        status.update(Text(_SHOWN[-1][1] if _SHOWN else ""))


@contextmanager
def silent() -> Iterator[None]:
    """Nothing is shown, on terminals neither."""
    global _SILENT
    before, _SILENT = _SILENT, True
    try:
        yield
    finally:
        _SILENT = before


def _is_watched() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
