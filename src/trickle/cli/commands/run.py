"""`trickle run`: the scheduler as a process."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from ..completion import one_of
from ..options import Json, options

if TYPE_CHECKING:
    from ...scheduler.loop import Scheduler
    from ...session import Session


Seconds = Annotated[str | None, typer.Option("--for", help="End after this long: 90s, 5m. Without it, run until told.")]
UntilIdle = Annotated[bool, typer.Option("--until-idle", help="End when nothing is left to do; what is held is named.")]
Log = Annotated[
    str,
    typer.Option(
        "--log", help="How events are written: text, json or none.", autocompletion=one_of("text", "json", "none")
    ),
]
Web = Annotated[bool, typer.Option("--web", help="Serve pages and metrics, see the settings web.*.")]
Metrics = Annotated[bool, typer.Option("--metrics", help="Serve the metrics alone.")]


def run(
    ctx: typer.Context,
    seconds: Seconds = None,
    until_idle: UntilIdle = False,
    log: Log = "text",
    web: Web = False,
    metrics: Metrics = False,
    json: Json = False,
) -> None:
    """Keep stream tables fresh. SIGTERM or Ctrl-C: running refreshes are ended, then the scheduler."""
    from ...events import log_to
    from ...schedules import read_duration

    if log not in ("text", "json", "none"):
        raise typer.BadParameter(f"{log!r} is not one of text, json, none", param_hint="--log")
    wanted = read_duration(seconds) if seconds else None
    given = options(ctx, json)
    with given.open() as db:
        if log != "none":
            db.subscribe(log_to(sys.stdout, log == "json" or given.format == "json"))
        scheduler = db.scheduler()
        with stopped_by_signals(scheduler.stop), served(db, scheduler, web, metrics):
            held = db.run_scheduler(scheduler, wanted, until_idle)
        if until_idle and held:
            typer.echo(f"held: {', '.join(f'{name} ({reason})' for name, reason in held.items())}", err=True)


def served(db: Session, scheduler: Scheduler, web: bool, metrics: bool) -> AbstractContextManager[object]:
    """The web server, if it is wanted; where it listens is said on stderr, since events go to stdout."""
    if not (web or metrics):
        return nullcontext()
    from ...web.server import Server

    server = Server(db, scheduler, metrics_only=not web)
    typer.echo(f"serving {server.url}", err=True)
    return server


@contextmanager
def stopped_by_signals(stop: Callable[[], None]) -> Iterator[None]:
    """SIGTERM and Ctrl-C ask for an end instead of making one."""
    before = {number: signal.signal(number, lambda *_: stop()) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
