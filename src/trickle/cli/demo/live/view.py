"""The faces of the live demo: a picture that is redrawn on terminals, lines anywhere else."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ....events import Event, RefreshFailed, RefreshFinished
from ...options import Options
from ...output import Output, counted
from .proof import Proof
from .score import IDLE, Arrived, Happening, Line, Score, Trouble, milliseconds

WIDTH = 80


class View(ABC):
    """Where the demo is seen."""

    @abstractmethod
    def note(self, text: str) -> None:
        """A word on what is being set up."""

    @contextmanager
    def playing(self, score: Score, seconds: float) -> Iterator[None]:
        """While the shop is open."""
        yield

    @abstractmethod
    def happened(self, happening: Happening, at: float) -> None:
        """One thing, so many seconds after the shop opened."""

    def turn(self, at: float) -> None:
        """Time goes on."""
        return


class Lines(View):
    """One line for each thing that happened, none longer than 80 columns."""

    def __init__(self, output: Output) -> None:
        self.output = output

    def note(self, text: str) -> None:
        self.output.say(text)

    def happened(self, happening: Happening, at: float) -> None:
        if said := told(happening):
            self.output.say(f"{at:6.1f} s  {said}"[:WIDTH])


class Facts(View):
    """For programs: each refresh and each proof as it is."""

    def __init__(self, output: Output) -> None:
        self.output = output

    def note(self, text: str) -> None:
        return

    def happened(self, happening: Happening, at: float) -> None:
        if not isinstance(happening, Event):
            self.output.fact(happening, "")


class Picture(View):
    """What is known of each table, what came in last, and how much time is left."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.live: Live | None = None
        self.score, self.seconds = Score(()), 0.0

    def note(self, text: str) -> None:
        self.console.print(Text(text))

    @contextmanager
    def playing(self, score: Score, seconds: float) -> Iterator[None]:
        self.score, self.seconds = score, seconds
        with Live(console=self.console, auto_refresh=False) as self.live:
            yield

    def happened(self, happening: Happening, at: float) -> None:
        return

    def turn(self, at: float) -> None:
        if self.live is not None:
            self.live.update(picture(self.score, at, self.seconds), refresh=True)


def view(given: Options) -> View:
    """The face that fits where the output goes."""
    if given.format != "table":
        return Facts(given.output)
    return Picture(Console(highlight=False)) if sys.stdout.isatty() else Lines(given.output)


def told(happening: Happening) -> str:
    """What happened, in a line; empty for what is not worth one.

    >>> told(Arrived(57, "+3 orders"))
    'change   snapshot 57: +3 orders'
    """
    match happening:
        case Arrived():
            return f"change   snapshot {happening.snapshot}: {happening.said}"
        case RefreshFinished() if happening.action not in IDLE:
            rows = f"+{happening.rows_inserted} −{happening.rows_deleted} rows"
            took = milliseconds(happening.duration_ms)
            return f"refresh  {happening.name}: {happening.action}, {rows} in {took}"
        case Proof():
            rows = "" if happening.differing else f", {counted(happening.rows, 'row')}"
            return f"proof    {happening.name}: {verdict(happening)}{rows}, full {milliseconds(happening.full_ms)}"
        case RefreshFailed():
            return f"failed   {happening.name}: {happening.message}"
        case Trouble():
            return f"failed   {happening.part}: {happening.message}"
    return ""


def verdict(proof: Proof) -> str:
    """
    >>> verdict(Proof("funnel", 7, 8, 5, 0, 900.0)), verdict(Proof("funnel", 7, 8, 5, 2, 900.0))
    ('exact at 7', '2 ROWS DIFFER at 7')
    """
    if proof.differing:
        return f"{proof.differing} ROWS DIFFER at {proof.data_snapshot}"
    return f"exact at {proof.data_snapshot}"


def picture(score: Score, at: float, seconds: float) -> RenderableType:
    """The whole, at most 80 columns wide."""
    done = f"{counted(score.changes, 'change')} · {counted(score.refreshes, 'refresh', 'refreshes')}"
    head = f"{min(at, seconds):.0f} s of {seconds:.0f} · {done}"
    proofs = f"{counted(score.proofs, 'proof')}, {score.mismatches} mismatches"
    style = "bold red" if score.mismatches else "bold green"
    parts: list[RenderableType] = [
        Text.assemble(("Trickle demo  ", "bold"), f"{head} · ", (proofs, style)),
        board(score),
        Text("Flowing in", style="bold"),
    ]
    parts += [Text(f"  snapshot {a.snapshot}: {a.said}", overflow="ellipsis", no_wrap=True) for a in score.arrived]
    parts += [Text(f"  {t.part}: {t.message}", "red", overflow="ellipsis", no_wrap=True) for t in score.troubles[-2:]]
    parts.append(Text("Ctrl-C ends it; the lake stays.", style="dim"))
    return Group(*parts)


def board(score: Score) -> Table:
    """A line for each stream table: rows touched, a refresh against a full computation, the proof."""
    table = Table(box=box.SIMPLE_HEAD, width=WIDTH, pad_edge=False, show_edge=False)
    table.add_column("stream table", no_wrap=True, min_width=max(map(len, score.lines), default=0))
    for name in ("refreshes", "touched", "refresh", "full"):
        table.add_column(name, justify="right", no_wrap=True, min_width=len(name))
    table.add_column("proof", no_wrap=True, max_width=18, overflow="ellipsis")
    for line in score.lines.values():
        table.add_row(*_cells(line))
    return table


def _cells(line: Line) -> tuple[Text, ...]:
    refresh = milliseconds(median(line.times)) if line.times else milliseconds(line.last_ms)
    full = milliseconds(median(line.full_ms)) if line.full_ms else ""
    proof = Text("")
    if line.proof is not None:
        proof = Text(verdict(line.proof), style="red" if line.proof.differing else "green")
    cells = (line.name, str(line.refreshes), line.touched, refresh, full)
    return (*map(Text, cells), proof)
