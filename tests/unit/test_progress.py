"""Progress is seen where a person watches, and nowhere else."""

from __future__ import annotations

import io
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

import trickle
from trickle.progress import progress, silent


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Cell:
    """What a notebook's cell shows, one text after the other."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def display(self, data: dict[str, str], raw: bool, display_id: bool) -> Any:
        assert raw and display_id
        return SimpleNamespace(update=lambda data, raw: self.texts.append(data["text/plain"]))


def test_at_a_terminal_it_is_shown_and_gone_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", shown := Terminal())
    with progress("outer …"), progress("inner …"):
        end = time.monotonic() + 30
        while "inner …" not in shown.getvalue() and time.monotonic() < end:
            time.sleep(0.02)
    *_, last = shown.getvalue().split("inner …")
    assert "inner …" in shown.getvalue() and "\x1b[2K" in last, "the line is erased"


def test_nothing_is_said_to_a_file_or_where_somebody_else_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", piped := io.StringIO())
    with progress("to a pipe …"):
        pass
    monkeypatch.setattr(sys, "stderr", drawn := Terminal())
    with silent(), progress("over a picture …"):
        pass
    assert piped.getvalue() == drawn.getvalue() == ""


def test_in_a_notebook_it_stands_below_the_cell_and_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = Cell()
    shell = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", shell)  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=cell.display))  # type: ignore[arg-type]
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress("outer …"), progress("inner …"):
        pass
    assert cell.texts == ["outer …", "inner …", "outer …", ""]


def test_importing_the_session_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []

    def tell(text: str) -> AbstractContextManager[None]:
        told.append(text)
        return nullcontext()

    monkeypatch.setattr("trickle.progress.progress", tell)
    assert trickle.connect is not None
    assert told == ["loading Spark's modules …"]
