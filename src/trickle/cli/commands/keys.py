"""`trickle check-keys`: do the rows agree with the declared keys?"""

from __future__ import annotations

from operator import attrgetter

import typer

from ..answers import show_facts
from ..exit_codes import ExitCode
from ..faces import Face
from ..options import Json, SomeTable, options
from ..output import counted

SHOWN = ("table", "name", "kind", "columns", "holds", "violations", "examples")


def check_keys(ctx: typer.Context, table: SomeTable = None, json: Json = False) -> None:
    """Hold declared keys against the rows; show a few keys that violate each, and exit with 1 if there are any."""
    from ...execute.constraints import KeyCheck

    given = options(ctx, json)
    with given.open() as db, given.progress("checking declared keys …"):
        found = db.check_keys(table)
    broken = [check for check in found if not check.holds]
    if given.format == "table" and not broken:
        given.output.say(f"all hold: {counted(len(found), 'declared key')}" if found else "no key is declared")
    else:
        show_facts(given, found, KeyCheck, face=Face(SHOWN, attrgetter(*SHOWN)))
    if broken:
        raise typer.Exit(ExitCode.FAILED)
