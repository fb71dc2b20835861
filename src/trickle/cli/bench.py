"""`trickle bench`: how fast this is on this machine, against plain Spark on the same machine at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from .exit_codes import ExitCode
from .options import Json, options
from .output import Rows

if TYPE_CHECKING:
    from ..testing.bench import Result, Timing

Scale = Annotated[float, typer.Option("--scale", min=0.0001, max=100, help="Factor on the number of rows and files.")]
Rounds = Annotated[int | None, typer.Option("--rounds", min=1, help="Timed rounds of each benchmark.")]
Only = Annotated[list[str] | None, typer.Option("--only", help="A benchmark by its name; may be repeated.")]
Within = Annotated[str | None, typer.Option("--in", help="Folder, and so the disk, to work in; emptied afterwards.")]
Check = Annotated[bool, typer.Option("--check", help="Exit with 1 if a target is missed.")]

app = typer.Typer(help="Measure, against plain Spark in the same run.", no_args_is_help=True)


@app.callback()
def bench() -> None:
    """Measure, against plain Spark in the same run."""


@app.command()
def lake(
    ctx: typer.Context,
    scale: Scale = 1.0,
    rounds: Rounds = None,
    only: Only = None,
    within: Within = None,
    check: Check = False,
    json: Json = False,
) -> None:
    """Appends, reads over deleted rows, deletes by key and file pruning: medians, ratios, targets."""
    from ..testing.bench import LAKE, arena, run

    given = options(ctx, json)
    unknown = [name for name in only or () if name not in LAKE]
    if unknown:
        raise typer.BadParameter(f"{unknown[0]!r} is not one of {', '.join(LAKE)}", param_hint="--only")
    results = []
    with arena(scale, within, settings=given.settings) as place:
        for result in run([LAKE[name] for name in only or LAKE], place, rounds):
            given.output.say(f"{result.name}: {figure(result)}", style="dim")
            results.append(result)
    given.output.rows(_table(results) if given.format == "table" else _facts(results))
    if check and not all(result.met for result in results):
        raise typer.Exit(ExitCode.FAILED)


def figure(result: Result) -> str:
    """A ratio or a time."""
    return f"{result.figure:.2f} ×" if result.unit == "x" else f"{result.figure:.1f} ms"


def _table(results: Sequence[Result]) -> Rows:
    head = ["benchmark", "ours, ms", "spread", "plain, ms", "spread", "figure", "target", "verdict"]
    return Rows(
        head,
        [
            (
                r.name,
                *_times(r.ours),
                *(_times(r.plain) if r.plain else ("", "")),
                figure(r),
                f"≤ {r.target:g} {'×' if r.unit == 'x' else 'ms'}",
                "met" if r.met else "missed",
            )
            for r in results
        ],
    )


def _times(timing: Timing) -> tuple[str, str]:
    return f"{timing.median:.1f}", f"{min(timing.rounds):.1f} – {max(timing.rounds):.1f}"


def _facts(results: Sequence[Result]) -> Rows:
    facts = [result.asdict() for result in results]
    return Rows(list(facts[0]), [tuple(fact.values()) for fact in facts])
