"""`trickle run`: the scheduler as a process."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from ..options import options

EXAMPLE = "trickle run --until-idle"

Seconds = Annotated[str | None, typer.Option("--for", help="End after this long: 90s, 5m. Without it, run until told.")]
UntilIdle = Annotated[bool, typer.Option("--until-idle", help="End when every stream table is fresh.")]
Log = Annotated[str, typer.Option("--log", help="How events are written: text, json or none.")]


def run(ctx: typer.Context, seconds: Seconds = None, until_idle: UntilIdle = False, log: Log = "text") -> None:
    """Keep stream tables fresh. SIGTERM or Ctrl-C: running refreshes are ended, then the scheduler."""
    from ...events import log_to
    from ...schedules import read_duration

    if log not in ("text", "json", "none"):
        raise typer.BadParameter(f"{log!r} is not one of text, json, none", param_hint="--log")
    wanted = read_duration(seconds) if seconds else None
    given = options(ctx)
    with given.open() as db:
        if log != "none":
            db.subscribe(log_to(sys.stdout, log == "json" or given.format == "json"))
        scheduler = db.scheduler()
        with stopped_by_signals(scheduler.stop):
            db.run_scheduler(scheduler, wanted, until_idle)


@contextmanager
def stopped_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """SIGTERM and Ctrl-C ask for an end instead of making one."""
    before = {number: signal.signal(number, lambda *_: stop()) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
