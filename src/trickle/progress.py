"""A word on what takes long, where a person watches: it lasts as long as the work does, and then it is gone."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

Say = Callable[[str], None]

_SILENT = False
"""Somebody else draws on this terminal."""
_SHOWN: list[tuple[Say, str]] = []
"""What is shown, the innermost last; all share one line."""


@contextmanager
def progress(text: str) -> Iterator[None]:
    """Shown while the work is done, if a person is watching; what that work shows of its own takes its place."""
    with nullcontext(_SHOWN[-1][0]) if _SHOWN else _line() as say:
        if say is None:
            yield
            return
        say(text)
        _SHOWN.append((say, text))
        try:
            yield
        finally:
            _SHOWN.pop()
            say(_SHOWN[-1][1] if _SHOWN else "")


@contextmanager
def silent() -> Iterator[None]:
    """Nothing is shown, on terminals neither."""
    global _SILENT
    before, _SILENT = _SILENT, True
    try:
        yield
    finally:
        _SILENT = before


def _line() -> AbstractContextManager[Say | None]:
    """Where it can be said: at a terminal, below a notebook's cell, or nowhere."""
    if _SILENT:
        return nullcontext()
    if sys.stderr is not None and sys.stderr.isatty():
        return _at_terminal()
    return _in_notebook() if _is_notebook() else nullcontext()


@contextmanager
def _at_terminal() -> Iterator[Say]:
    from rich.console import Console
    from rich.text import Text

    with Console(file=sys.stderr).status("") as status:
        yield lambda text: status.update(Text(text))


@contextmanager
def _in_notebook() -> Iterator[Say]:
    display = importlib.import_module("IPython.display").display
    line = display({"text/plain": ""}, raw=True, display_id=True)
    yield lambda text: line.update({"text/plain": text}, raw=True)


def _is_notebook() -> bool:
    """Whether this is a kernel; where IPython was not even imported, it is not."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")
