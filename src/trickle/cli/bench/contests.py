"""Benchmarks that are contests: our way and the plain one in turns, or a time against its target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..exit_codes import ExitCode
from ..options import Json, Options, options
from ..tables import Rows

if TYPE_CHECKING:
    from ...testing.bench import Benchmark, Result, Timing

Scale = Annotated[float, typer.Option("--scale", min=0.0001, max=100, help="Factor on the number of rows and files.")]
Rounds = Annotated[int | None, typer.Option("--rounds", min=1, help="Timed rounds of each benchmark.")]
Only = Annotated[list[str] | None, typer.Option("--only", help="A benchmark by its name; may be repeated.")]
Within = Annotated[str | None, typer.Option("--in", help="Folder, and so the disk, to work in; emptied afterwards.")]
Save = Annotated[Path | None, typer.Option("--save", help="Write everything that was measured to a JSON file.")]
Check = Annotated[bool, typer.Option("--check", help="Exit with 1 if a target is missed.")]


def lake(
    ctx: typer.Context,
    scale: Scale = 1.0,
    rounds: Rounds = None,
    only: Only = None,
    within: Within = None,
    save: Save = None,
    check: Check = False,
    json: Json = False,
) -> None:
    """Appends, reads over deleted rows, deletes by key and file pruning: medians, ratios, targets."""
    from ...testing.bench import LAKE

    unknown = [name for name in only or () if name not in LAKE]
    if unknown:
        raise typer.BadParameter(f"{unknown[0]!r} is not one of {', '.join(LAKE)}", param_hint="--only")
    _held(options(ctx, json), {name: LAKE[name] for name in only or LAKE}, scale, rounds, within, Ending(save, check))


def floor(
    ctx: typer.Context,
    rounds: Rounds = None,
    within: Within = None,
    save: Save = None,
    check: Check = False,
    json: Json = False,
) -> None:
    """Spark's own floor: an empty query, a hundred rows in and out, a tiny file, an aggregate with a shuffle."""
    from ...testing.bench.refreshes.floor import contests

    _held(options(ctx, json), {"floor": contests}, 1.0, rounds, within, Ending(save, check))


def write(
    ctx: typer.Context,
    scale: Scale = 1.0,
    rounds: Rounds = None,
    within: Within = None,
    save: Save = None,
    check: Check = False,
    json: Json = False,
) -> None:
    """What twenty stream tables add to the cost of writing their source."""
    from ...testing.bench.refreshes.write import contests

    _held(options(ctx, json), {"write": contests}, scale, rounds, within, Ending(save, check))


def _held(
    given: Options,
    benchmarks: Mapping[str, Benchmark],
    scale: float,
    rounds: int | None,
    within: str | None,
    ending: Ending,
) -> None:
    from ...testing.bench import arena, run

    with arena(scale, within, settings=given.settings) as place:
        tell(given, " ".join(benchmarks), run(list(benchmarks.values()), place, rounds), ending)


@dataclass(frozen=True)
class Ending:
    """What becomes of the results beside being told."""

    save: Path | None
    check: bool


def tell(given: Options, bench: str, found: Iterable[Result], ending: Ending) -> None:
    """Each result as it comes, all of them at the end."""
    from ...testing.bench.refreshes.report import document, save

    results = []
    for result in found:
        given.output.say(f"{result.name}: {figure(result)}", style="dim")
        results.append(result)
    given.output.rows(_table(results) if given.format == "table" else _facts(results))
    if ending.save is not None:
        save(document(bench, {}, [result.asdict() for result in results], []), ending.save)
    if ending.check and not all(result.met for result in results):
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
