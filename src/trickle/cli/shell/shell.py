"""The loop of the shell: read until a semicolon, run, show, go on."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from ...errors import TrickleError
from ...ops.facts import StatusRecord
from ..answers import show, show_facts
from ..commands.listing import NONE
from ..faces import STATUS
from ..options import Options
from ..output import FORMATS
from .words import Names, Words

if TYPE_CHECKING:
    from prompt_toolkit.input import Input
    from prompt_toolkit.output import Output

    from ...session import Session

HELP = """\
A statement ends with a semicolon, and may go over several lines. Tab completes, arrows bring back what was typed.
\\d            the tables and stream tables
\\d NAME       the columns of one
\\s            how the stream tables stand
\\f FORMAT     table, json or csv
\\q            leave, as does Ctrl-D"""


class Shell:
    """A conversation with one lake."""

    def __init__(
        self,
        given: Options,
        db: Session,
        rows: int = 1000,
        history: History | None = None,
        keyboard: Input | None = None,
        screen: Output | None = None,
    ) -> None:
        self.given, self.db, self.rows = given, db, rows
        self.prompt: PromptSession[str] = PromptSession(
            history=history or _history(),
            completer=Words(self.names),
            complete_while_typing=False,
            multiline=Condition(lambda: not self._is_whole()),
            prompt_continuation="   ... ",
            input=keyboard,
            output=screen,
        )

    def run(self) -> None:
        """Until \\q or Ctrl-D; Ctrl-C drops what is typed."""
        self.given.output.say("trickle sql: \\? for help, \\q to leave")
        while True:
            try:
                text = self.prompt.prompt("trickle> ").strip()
            except KeyboardInterrupt:
                continue
            except EOFError:
                return
            if text.rstrip(";").lower() in ("\\q", "exit", "quit"):
                return
            self._answer(text)

    def names(self) -> Names:
        """What the lake holds, for completion."""
        tables = {t.name if t.schema == "main" else f"{t.schema}.{t.name}": t.columns for t in self.db.tables()}
        streams = {t.name: () for t in self.db.stream_tables()}
        return {name: columns for name, columns in tables.items() if not name.startswith("trickle.")} | streams

    def _is_whole(self) -> bool:
        """What is typed can be run: a command, or a statement that a semicolon ends."""
        typed = self.prompt.default_buffer.text.strip()
        return not typed or typed.startswith("\\") or typed.endswith(";") or typed.lower() in ("exit", "quit")

    def _answer(self, text: str) -> None:
        try:
            if text.startswith("\\"):
                self._command(*text[1:].rstrip(";").split())
            elif text:
                self._statements(text)
        except TrickleError as error:
            self.given.output.error(error)

    def _statements(self, text: str) -> None:
        from ...sql.script import split

        for one in split(text):
            began = time.perf_counter()
            with self.given.progress("running …"):
                result = self.db.sql(one)
            show(self.given, result, self.rows)
            self.given.output.say(f"({(time.perf_counter() - began) * 1000:.0f} ms)", style="dim")

    def _command(self, word: str = "", *rest: str) -> None:
        commands: dict[str, Callable[..., None]] = {"d": self._describe, "s": self._status, "f": self._format}
        if word in commands:
            commands[word](*rest[:1])
        else:
            print(HELP)

    def _describe(self, name: str = "") -> None:
        show(self.given, self.db.columns(name) if name else self.db.tables())

    def _status(self) -> None:
        show_facts(self.given, self.db.stream_table_status(), StatusRecord, NONE, STATUS)

    def _format(self, name: str = "") -> None:
        if name in FORMATS:
            self.given.format = name
        self.given.output.say(f"format: {self.given.format} ({', '.join(FORMATS)})")


def _history() -> History:
    """What was typed stays, in a file of the user's own."""
    home = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "trickle"
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(home / "sql_history"))
