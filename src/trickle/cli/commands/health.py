"""`trickle health`: is the lake well, and every stream table?"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from ..answers import show_facts
from ..exit_codes import ExitCode
from ..options import Json, Options, SomeStreamTable, named, options
from ..output import Output, counted

if TYPE_CHECKING:
    from ...ops.diagnose import Diagnosis
    from ...ops.health import Finding
    from ...ops.ledger import Ledger


OTHERWISE = "trickle refresh {name}"
COMMANDS = {
    "suspended": "trickle resume {name}",
    "fuse_blown": "trickle fuse reset {name}",
    "gated": "trickle gate list",
    "watermark": "trickle watermark status",
    "history_expired": "trickle refresh --full {name}",
    "file_missing": "trickle refresh --full {name}",
    "scheduler": "trickle run",
    "paused": "trickle resume",
    "lag": "trickle history",
    "empty": "trickle refresh --all",
    "catalog": "trickle doctor",
}
STYLES = {"critical": "bold red", "warning": "bold yellow"}

Strict = Annotated[bool, typer.Option("--strict", help="Exit code 1 for warnings, too.")]


def health(ctx: typer.Context, name: SomeStreamTable = None, strict: Strict = False, json: Json = False) -> None:
    """Show what is not well, of the lake or of one stream table, and what to do; exit code 1 if any of it is critical.

    Critical is what lets a stream table show old rows until somebody acts: it fails, is suspended, its fuse is blown,
    or it lags further behind than its target_lag. Warnings are the rest: no scheduler runs, all refreshes are paused,
    a gate or a watermark holds a stream table, one was never filled, the catalog is slow.
    """
    from ...ops.health import Finding, findings, worst
    from ...ops.overview import Overview

    given = options(ctx, json)
    with given.look() as ledger:
        overview = Overview.read(ledger, given.chosen()["scheduler.lease_seconds"])
        found = findings(ledger, overview, named(name))
        commands = _written(ledger)
    if given.format == "table" and found:
        _tell(given.output, found, commands, overview.is_paused)
    else:
        show_facts(given, found, Finding, f"all is well: {counted(len(commands), 'stream table')}")
    if worst(found) == "critical" or (strict and found):
        raise typer.Exit(ExitCode.FAILED)


def _tell(output: Output, found: Sequence[Finding], written: Mapping[str, str], is_paused: bool) -> None:
    for one in found:
        code = "paused" if one.check == "scheduler" and is_paused else one.code
        head = f"{one.name}: {one.code}" if one.name else one.check
        output.say(f"{head} ({one.status})", style=STYLES[one.status])
        _say(output, one.message, one.remedy, code, written.get(one.name or "", ""))


def show_ill(given: Options, ledger: Ledger, ill: Sequence[Diagnosis], nothing: str) -> None:
    """What is wrong with whom, why, what to do, and the command that does it or says more."""
    from ...ops.diagnose import Diagnosis

    if given.format != "table" or not ill:
        show_facts(given, ill, Diagnosis, nothing)
        return
    written = _written(ledger)
    for found in ill:
        since = f", {counted(found.errors_in_row, 'error')} in a row" if found.errors_in_row else ""
        given.output.say(f"{found.name}: {found.code} ({found.status}{since})", style="bold red")
        _say(given.output, found.message, found.remedy, found.code, written[found.name])


def _say(output: Output, message: str, remedy: str, code: str, name: str) -> None:
    output.say(f"  what:   {message}")
    output.say(f"  remedy: {remedy}")
    output.say(f"  try:    {COMMANDS.get(code, OTHERWISE).format(name=shlex.quote(name))}")


def _written(ledger: Ledger) -> dict[str, str]:
    """Each stream table's label, and the name that commands take."""
    from ...ops.ledger import name_of

    return {table.label: name_of(table).written for table in ledger.all()}
