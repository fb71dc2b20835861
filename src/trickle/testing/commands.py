"""The command line in this process, as programs use it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass
class Command:
    """Runs a command; its answer as JSON, or the error's text if it fails."""

    app: Callable[..., object]
    lake: str
    written: Callable[[], tuple[str, str]]
    """What came on stdout and stderr since the last time."""
    said: str = ""
    """On stderr, by the last command."""

    def __call__(self, *words: str, fails: bool = False) -> Any:
        self.written()
        code: Any = 0
        try:
            self.app(["--lake", self.lake, "--json", *words], prog_name="trickle")
        except SystemExit as ended:
            code = ended.code
        out, self.said = self.written()
        assert bool(code) == fails, self.said
        return self.said if fails else _read(out)


def _read(out: str) -> Any:
    """JSON, lines of JSON, or text."""
    if not out.startswith(("[", "{")):
        return out
    try:
        return json.loads(out)
    except json.JSONDecodeError:
        return [json.loads(line) for line in out.splitlines()]
