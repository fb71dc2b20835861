"""`trickle demo` itself: where it plays, which one, and what to try next."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import AlreadyExists
from ..exit_codes import ExitCode
from ..options import Json, Options, options
from ..output import Output

if TYPE_CHECKING:
    from .live.score import Summary

DIRECTORY = "trickle-demo"

Seconds = Annotated[float, typer.Option("--seconds", min=1, help="How long the shop is open.")]
Orders = Annotated[int, typer.Option("--orders", min=100, help="How many orders it begins with; clicks: twice that.")]
Seed = Annotated[int, typer.Option("--seed", help="Another number, another course of things.")]
Tour = Annotated[bool, typer.Option("--tour", help="Step by step instead: changes, time travel, a stream table.")]


def demo(
    ctx: typer.Context,
    seconds: Seconds = 60,
    orders: Orders = 50_000,
    seed: Seed = 1,
    tour: Tour = False,
    json: Json = False,
) -> None:
    """Open a shop in a new lake, keep six stream tables fresh while it changes, and prove them exact.

    The exit code is 0 if no stream table ever differed from its query and nothing failed. The lake stays.
    """
    given = options(ctx, json)
    given.lake = _place(given)
    given.output.say(f"Making a lake at {given.lake} and starting Spark …")
    if tour:
        _tour(given, given.lake)
    else:
        _live(given, given.lake, seconds, orders, seed)


def _tour(given: Options, lake: str) -> None:
    from .steps import STEPS, Stage

    with given.open(create=True) as db:
        stage = Stage(db, given.output)
        for step in STEPS:
            step(stage)
        commands = (
            f"sql 'SELECT * FROM orders VERSION AS OF {stage.filled}'",
            f"changes orders --from {stage.filled} --to {db.head()}",
            "sql 'UPDATE orders SET amount = 99 WHERE id = 13'",
            "refresh revenue",
            "explain revenue",
        )
        _next(given.output, lake, commands, "orders")


def _live(given: Options, lake: str, seconds: float, orders: int, seed: int) -> None:
    from .live.play import Play
    from .live.view import view

    with given.open(create=True) as db:
        summary = Play(given.session, lake, orders, seconds, seed, view(given)).perform(db)
        _sum_up(given.output, summary)
        commands = (
            "status",
            "sql 'SELECT * FROM top_sellers'",
            "history sessions",
            "explain suspects",
            "sql 'UPDATE orders SET amount = 9999 WHERE id = 1'",
            "run --until-idle",
            "run --web",
            "watch",
        )
        _next(given.output, lake, commands, "top_sellers")
    if not summary.is_clean:
        raise typer.Exit(ExitCode.FAILED)


def _sum_up(output: Output, found: Summary) -> None:
    """Four lines that say what was seen."""
    from .live.score import milliseconds

    output.say()
    output.say(f"{found.changes} changes in {found.seconds:.0f} s", style="bold")
    refresh, full = milliseconds(found.refresh_ms), milliseconds(found.full_ms)
    output.say(f"  {found.refreshes} refreshes, {found.differential} of them differential; {found.failed} failures")
    output.say(f"  median refresh {refresh}; median full computation {full}")
    output.fact(found, f"  {found.proofs} proofs of exactness, {found.mismatches} mismatches")


def _place(given: Options) -> str:
    """The lake named, which must not exist, or the first free directory."""
    from ...lake.location import lake_exists

    if given.lake is None:
        names = (DIRECTORY if n == 1 else f"{DIRECTORY}-{n}" for n in count(1))
        return next(name for name in names if not Path(name).exists())
    if lake_exists(given.lake, given.chosen()):
        raise AlreadyExists(
            f'there is a lake at "{given.lake}" already',
            detail="the demo makes a new one and leaves others alone.",
            hint="name another place with --lake, or leave it out.",
        )
    return given.lake


def _next(output: Output, lake: str, commands: Sequence[str], table: str) -> None:
    """Lines to copy, which fit a terminal of 80 columns where the lake's name is not long."""
    trickle, python = _programs(sys.argv[0], shutil.which("trickle"))
    at = f"{trickle} --lake {shlex.quote(lake)}"
    opened = f"import trickle; db = trickle.connect({json.dumps(lake)})"
    output.say()
    output.say("What to try next", style="bold")
    for command in commands:
        output.say(f"  {at} {command}")
    output.say(f"  {python} -i -c {shlex.quote(opened)}")
    output.say(f'  >>> db.table("{table}").show()')
    if "://" not in lake:
        catalog = f"{lake}/catalog.sqlite".replace("'", "''")
        output.say("The same lake in DuckDB, which reads and writes it too:")
        output.say("  INSTALL ducklake; INSTALL sqlite;")
        output.say(f"  ATTACH 'ducklake:sqlite:{catalog}' AS shop;")
        output.say(f"  SELECT * FROM shop.{table};")


def _programs(called: str, known: str | None) -> tuple[str, str]:
    """How to call `trickle` and `python` again: by name where the shell finds them, else as it was called.

    >>> _programs(".venv/bin/trickle", None), _programs("/usr/bin/trickle", "/usr/bin/trickle")
    (('.venv/bin/trickle', '.venv/bin/python'), ('trickle', 'python'))
    """
    path = Path(called)
    if path.name != "trickle" or called == known:
        return "trickle", "python"
    return shlex.quote(str(path)), shlex.quote(str(path.with_name("python")))
