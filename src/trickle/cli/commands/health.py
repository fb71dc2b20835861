"""`trickle health`: is every stream table well?"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from ..answers import show_facts
from ..exit_codes import ExitCode
from ..options import Json, Options, SomeStreamTable, named, options
from ..output import counted

if TYPE_CHECKING:
    from ...ops.diagnose import Diagnosis


OTHERWISE = "trickle refresh {name}"
COMMANDS = {
    "suspended": "trickle resume {name}",
    "fuse_blown": "trickle fuse reset {name}",
    "gated": "trickle gate list",
    "watermark": "trickle watermark status",
    "history_expired": "trickle refresh --full {name}",
    "file_missing": "trickle refresh --full {name}",
}


def health(ctx: typer.Context, name: SomeStreamTable = None, json: Json = False) -> None:
    """Show which stream tables fail, are suspended or are held, and what to do; exit code 1 if there are any."""
    from ...ops.diagnose import diagnose_errors

    given = options(ctx, json)
    with given.look() as ledger:
        ill = diagnose_errors(ledger, named(name))
        number = len(ledger.all())
    show_ill(given, ill, f"all is well: {counted(number, 'stream table')}")
    if ill:
        raise typer.Exit(ExitCode.FAILED)


def show_ill(given: Options, ill: Sequence[Diagnosis], nothing: str) -> None:
    """What is wrong with whom, why, what to do, and the command that does it or says more."""
    from ...ops.diagnose import Diagnosis

    if given.format != "table" or not ill:
        show_facts(given, ill, Diagnosis, nothing)
        return
    for found in ill:
        since = f", {counted(found.errors_in_row, 'error')} in a row" if found.errors_in_row else ""
        given.output.say(f"{found.name}: {found.code} ({found.status}{since})", style="bold red")
        given.output.say(f"  what:   {found.message}")
        given.output.say(f"  remedy: {found.remedy}")
        given.output.say(f"  try:    {COMMANDS.get(found.code, OTHERWISE).format(name=shlex.quote(found.name))}")
