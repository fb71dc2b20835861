"""`trickle history`: what refreshes did."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from ...ops.sparkline import sparkline
from ...ops.words import milliseconds
from ..answers import show_facts
from ..faces import HISTORY
from ..options import Json, SomeStreamTable, named, options
from ..output import Output

if TYPE_CHECKING:
    from ...ops.facts import HistoryRecord


IDLE = ("NO_DATA", "SKIP")
WIDEST = 40

Limit = Annotated[int, typer.Option("--limit", min=1, help="Only the newest so many.")]


def history(ctx: typer.Context, name: SomeStreamTable = None, limit: Limit = 20, json: Json = False) -> None:
    """List what refreshes did and why, the newest first, and below it how long they took, the newest last."""
    from ...ops import facts

    given = options(ctx, json)
    with given.look() as ledger:
        found = facts.history(ledger, named(name), limit)
    show_facts(given, found, facts.HistoryRecord, "no refreshes yet", HISTORY)
    if given.format == "table":
        _tell_errors(given.output, found)
        _tell_durations(given.output, found)


def _tell_errors(output: Output, found: Sequence[HistoryRecord]) -> None:
    """The newest error of each stream table."""
    errors = {line.name: line for line in reversed(found) if line.error}
    for name, line in errors.items():
        output.say(f"{name}: {line.error}", style="red")


def _tell_durations(output: Output, found: Sequence[HistoryRecord]) -> None:
    """How long those took that had something to do."""
    done = sorted((line for line in found if line.action not in IDLE), key=lambda line: line.name)
    for name, lines in groupby(done, key=lambda line: line.name):
        times = [line.duration_ms for line in lines][::-1]
        span = f"{milliseconds(min(times))} … {milliseconds(max(times))}" if len(times) > 1 else milliseconds(times[0])
        output.say(f"{name}: {sparkline(times[-WIDEST:])} {span}")
