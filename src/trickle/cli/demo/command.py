"""`trickle demo` itself: where it plays, its steps, and what to try next."""

from __future__ import annotations

import shlex
import shutil
import sys
from itertools import count
from pathlib import Path

import typer

from ...errors import AlreadyExists
from ..options import Json, Options, options
from ..output import Output

DIRECTORY = "trickle-demo"


def demo(ctx: typer.Context, json: Json = False) -> None:
    """Make a lake with a small shop, change it, and show changes, time travel, a stream table and maintenance."""
    from .steps import STEPS, Stage

    given = options(ctx, json)
    given.lake = _place(given)
    given.output.say(f"Making a lake at {given.lake} and starting Spark …")
    with given.open(create=True) as db:
        stage = Stage(db, given.output)
        for step in STEPS:
            step(stage)
        _next(given.output, given.lake, stage.filled, db.head(), db.lake.storage.root)


def _place(given: Options) -> str:
    """The lake named, which must not exist, or the first free directory."""
    from ...lake.lake import lake_exists

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


def _next(output: Output, lake: str, filled: int, head: int, data_path: str) -> None:
    trickle, python = _programs(sys.argv[0], shutil.which("trickle"))
    at = f"{trickle} --lake {shlex.quote(lake)}"
    output.say()
    output.say("What to try next", style="bold")
    output.say(f"  {at} sql 'SELECT * FROM orders VERSION AS OF {filled}'")
    output.say(f"  {at} changes orders --from {filled} --to {head}")
    output.say(f"  {at} sql 'UPDATE orders SET amount = 99 WHERE id = 13'")
    output.say(f"  {at} refresh revenue")
    output.say(f"  {at} explain revenue")
    output.say(f'  {python} -c \'import trickle; print(trickle.connect("{lake}").table("orders").toPandas())\'')
    if "://" not in lake:
        output.say("The same lake in DuckDB, which reads and writes it too:")
        output.say("  INSTALL ducklake; INSTALL sqlite;")
        output.say(
            f"  ATTACH 'ducklake:sqlite:{Path(lake).absolute()}/catalog.sqlite' AS shop (DATA_PATH '{data_path}');"
        )
        output.say("  SELECT * FROM shop.orders;")


def _programs(called: str, known: str | None) -> tuple[str, str]:
    """How to call `trickle` and `python` again: by name where the shell finds them, else as it was called.

    >>> _programs(".venv/bin/trickle", None), _programs("/usr/bin/trickle", "/usr/bin/trickle")
    (('.venv/bin/trickle', '.venv/bin/python'), ('trickle', 'python'))
    """
    path = Path(called)
    if path.name != "trickle" or called == known:
        return "trickle", "python"
    return shlex.quote(str(path)), shlex.quote(str(path.with_name("python")))
