"""What there is to see at one moment, read from the catalog alone; and how it is said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from rich.text import Text

from ..ops import diagnose, facts, fuse
from ..ops import health as checks
from ..ops.graph import graph
from ..ops.ledger import MAIN, Ledger
from ..ops.overview import Overview
from ..ops.sparkline import sparkline
from ..ops.words import lag, milliseconds, rows
from ..sql.names import Name

HISTORY = 200
Cell = str | Text


@dataclass(frozen=True)
class Board:
    """The stream tables of a lake, as they stood when the catalog was asked."""

    head: int = 0
    paused: bool = False
    statuses: Sequence[facts.StatusRecord] = ()
    definitions: Sequence[facts.StreamTableRecord] = ()
    dependencies: Sequence[facts.DependencyRecord] = ()
    history: Sequence[facts.HistoryRecord] = ()
    fuses: Sequence[fuse.FuseRecord] = ()
    ill: Sequence[diagnose.Diagnosis] = ()
    findings: Sequence[checks.Finding] = ()
    graph: str = ""

    @classmethod
    def read(cls, ledger: Ledger, silence: float) -> Board:
        """A scheduler that was silent for longer than so many seconds is gone."""
        with ledger.reading() as connection:
            current = ledger.registry.is_current(connection)
        seen = Overview.read(ledger, silence)
        return cls(
            seen.head,
            seen.is_paused,
            facts.status(ledger),
            facts.stream_tables(ledger),
            facts.dependencies(ledger),
            facts.history(ledger, limit=HISTORY),
            fuse.fuse_status(ledger) if current else (),
            diagnose.diagnose_errors(ledger),
            checks.findings(ledger, seen),
            graph(ledger),
        )

    def names(self) -> list[Name]:
        """In the order of the statuses."""
        return [Name(None if s.schema == MAIN else s.schema, s.name) for s in self.statuses]

    def title(self) -> str:
        """
        >>> Board(head=7).title()
        'snapshot 7 · 0 stream tables · all well'
        """
        state = f"{len(self.findings)} not well" if self.findings else "all well"
        paused = " · PAUSED" if self.paused else ""
        number = len(self.statuses)
        tables = f"{number} stream table" + ("" if number == 1 else "s")
        return f"snapshot {self.head} · {tables} · {state}{paused}"

    def times(self, name: str) -> list[float]:
        """How long its refreshes took, the newest last."""
        return [h.duration_ms for h in reversed(self.history) if h.name == name and h.action != "NO_DATA"]


def label(record: facts.StatusRecord | facts.StreamTableRecord) -> str:
    return record.name if record.schema == "main" else f"{record.schema}.{record.name}"


def overview(board: Board) -> Iterator[tuple[Cell, ...]]:
    """A line for each stream table: name, state, data snapshot, lag, last action, its rows, how long refreshes took."""
    last = {h.name: h for h in reversed(board.history) if h.action != "NO_DATA"}
    blown = {f.name for f in board.fuses if f.state == "blown"}
    for status in board.statuses:
        name = label(status)
        state = "FUSE BLOWN" if name in blown else status.status
        done = last.get(name)
        touched = rows(done.rows_inserted, done.rows_deleted) if done else ""
        action = " ".join(filter(None, (status.last_action, status.last_reason)))
        took = milliseconds(done.duration_ms) if done else ""
        behind = Text(lag(status.lag_seconds), style="yellow" if status.lag_seconds else "green")
        yield name, Text(state, style=STATES.get(state, "")), told(status.data_snapshot), behind, action, touched, took


STATES = {"ACTIVE": "green", "SUSPENDED": "magenta", "ERROR": "bold red", "FUSE BLOWN": "bold red"}
OVERVIEW = ("stream table", "state", "exact for", "lag", "last action", "rows", "took")


def log(board: Board) -> Iterator[tuple[Cell, ...]]:
    """The newest refreshes first, those that had something to do or failed."""
    for h in board.history:
        if h.action == "NO_DATA" and not h.error:
            continue
        failed = Text(h.error.splitlines()[0], style="red") if h.error else None
        what = failed or f"{h.action} {h.reason}".strip()
        touched, took = rows(h.rows_inserted, h.rows_deleted), milliseconds(h.duration_ms)
        yield clock(h.finished_at), h.name, what, touched, took


LOG = ("at", "stream table", "what", "rows", "took")


def health(board: Board) -> Text:
    """What is not well, the worst first, and the remedy."""
    parts = [part for finding in board.findings for part in _problem(finding)]
    return Text("\n").join(parts) if parts else Text("all is well", style="green")


def _problem(found: checks.Finding) -> Iterator[Text]:
    yield Text.assemble((found.name or "the lake", "bold"), " ", (found.status, LEVELS[found.status]), f" {found.code}")
    yield Text(found.message)
    yield Text.assemble(("remedy: ", "bold green"), found.remedy, "\n")


LEVELS = {"warning": "yellow", "critical": "red"}


def detail(board: Board, name: str) -> Text:
    """All that is known of one stream table, in lines."""
    return Text("\n").join(Text.assemble(line) for line in _detail(board, name))


def _detail(board: Board, name: str) -> Iterator[str | tuple[str, str]]:
    status = next((s for s in board.statuses if label(s) == name), None)
    definition = next((d for d in board.definitions if label(d) == name), None)
    if status is None or definition is None:
        yield "no stream table is chosen"
        return
    mode = status.refresh_mode
    effect = "" if mode == status.effective_mode else f" (in effect {status.effective_mode})"
    yield f"{name}: {status.status}, {mode}{effect}", "bold"
    yield f"exact for snapshot {told(status.data_snapshot)} of {board.head}, lag {lag(status.lag_seconds)}"
    yield f"reads {', '.join(sorted(d.source for d in board.dependencies if d.name == name)) or 'nothing'}"
    for f in (f for f in board.fuses if f.name == name and f.state != "off"):
        yield f"fuse {f.state}" + (f": {f.changed_rows} changed rows" if f.changed_rows else "")
    for d in (d for d in board.ill if d.name == name):
        yield f"not well: {d.message}", "red"
        yield f"remedy: {d.remedy}", "green"
    times = board.times(name)
    if times:
        yield f"refreshes {sparkline(times[-40:])} {milliseconds(min(times))} … {milliseconds(max(times))}"
    yield ""
    yield definition.query


def told(value: int | None) -> str:
    return "" if value is None else str(value)


def clock(at: datetime) -> str:
    return at.strftime("%H:%M:%S")
