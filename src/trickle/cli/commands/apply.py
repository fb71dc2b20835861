"""`trickle apply`: the stream tables of a folder of `.sql` files, made so."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ..answers import show_facts
from ..options import DryRun, Json, Options, options

if TYPE_CHECKING:
    from ..definitions.plan import Plan


Folder = Annotated[
    str | None, typer.Argument(help="The folder; without it, the one that trickle.toml names, or streams.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]
Prune = Annotated[bool, typer.Option("--prune", help="Drop stream tables that no file defines.")]


def apply(
    ctx: typer.Context,
    folder: Folder = None,
    yes: Yes = False,
    dry_run: DryRun = False,
    prune: Prune = False,
    json: Json = False,
) -> None:
    """Make the stream tables be as a folder of .sql files says; what will be done is shown first.

    A file is a query, and the stream table is called like it; or it holds CREATE STREAM TABLE statements. Run again,
    it does nothing: only what differs is created, altered or replaced.
    """
    from ..definitions.files import read_folder
    from ..definitions.plan import Step, plan

    given = options(ctx, json)
    defined = read_folder(folder or given.project.streams)
    with given.look() as ledger:
        wanted = plan(ledger, defined, prune)
    show_facts(given, wanted.steps, Step, "the folder holds no definitions")
    if not wanted.work:
        given.output.say("nothing to do")
    elif not dry_run:
        _confirm(len(wanted.work), yes)
        _apply(given, wanted)


def _confirm(steps: int, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise typer.BadParameter("say --yes to carry this out, or --dry-run to only look", param_hint="--yes")
    typer.confirm(f"Carry out {steps} of these?", abort=True)


def _apply(given: Options, wanted: Plan) -> None:
    from ..definitions.plan import carry_out

    with given.open() as db:
        for n, step in enumerate(wanted.work, 1):
            with given.progress(f"{step.action} {step.name} ({n} of {len(wanted.work)}) …"):
                carry_out(db, step, wanted)
            given.output.say(f"{step.action} {step.name}: done")
