"""`trickle watch`: stream tables on the screen, live."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, TextIO

import typer

from ...progress import silent
from ..options import options

Every = Annotated[float, typer.Option("--every", min=0.1, help="Seconds between two looks at the catalog.")]


def watch(ctx: typer.Context, every: Every = 1.0) -> None:
    """Watch stream tables live: overview, one table, graph, log, health; refresh, pause, resume, reset a fuse.

    Everything is read from the catalog; Spark is started only when a refresh is asked for.
    """
    from ...tui.app import Watch

    given = options(ctx)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise typer.BadParameter("this needs a terminal; `trickle status` and `trickle run` do not")
    with given.look() as ledger, drawn_on(sys.stderr), silent():
        Watch(ledger, given.session, every, given.chosen()["scheduler.lease_seconds"]).run()


@contextmanager
def drawn_on(stream: TextIO) -> Iterator[None]:
    """Textual draws on `sys.__stderr__`, whose descriptor Java has when Spark is kept quiet."""
    before = sys.__stderr__
    sys.__stderr__ = stream  # type: ignore[misc, assignment]
    try:
        yield
    finally:
        sys.__stderr__ = before  # type: ignore[misc]
