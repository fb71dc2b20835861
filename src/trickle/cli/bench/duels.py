"""Benchmarks of refreshes: differential against recomputing, with phases, verdicts, JSON and a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..exit_codes import ExitCode
from ..options import Json, Options, options
from ..tables import Rows
from .contests import Check, Save, Scale, Within
from .tables import duel_table

if TYPE_CHECKING:
    from ...testing.bench.refreshes.verdict import Verdict

Rounds = Annotated[int, typer.Option("--rounds", min=1, help="Timed rounds.")]
Warmups = Annotated[int, typer.Option("--warmups", min=0, help="Rounds before those, which are not timed.")]
Picture = Annotated[Path | None, typer.Option("--picture", help="Draw it to a PNG file (needs matplotlib).")]
DuckDB = Annotated[
    bool, typer.Option("--duckdb", help="Let DuckDB recompute it too (needs duckdb and its ducklake extension).")
]


def tpch(
    ctx: typer.Context,
    scale: Annotated[float, typer.Option("--scale", min=0.001, max=1000, help="TPC-H's scale factor.")] = 1.0,
    orders: Annotated[
        float, typer.Option("--orders", min=0, help="Orders changed in a round; below 1, their share.")
    ] = 0.001,
    spread: Annotated[bool, typer.Option("--spread", help="Orders from all over the table, not neighbours.")] = False,
    only: Annotated[list[str] | None, typer.Option("--only", help="A query, as q01; may be repeated.")] = None,
    duckdb: DuckDB = False,
    rounds: Rounds = 5,
    warmups: Warmups = 12,
    save: Save = None,
    picture: Picture = None,
    within: Within = None,
    check: Check = False,
    json: Json = False,
) -> None:
    """TPC-H's 22 queries as stream tables, refreshed after changes of orders."""
    from ...testing.bench import arena
    from ...testing.bench.refreshes.report import document
    from ...testing.bench.refreshes.tpch import Plan, measure

    given = options(ctx, json)
    plan = Plan(scale, orders, spread, rounds, warmups, asked(only), duckdb)
    with arena(1.0, within, settings=given.settings) as place:
        found = measure(place, plan, lambda text: given.output.say(text, style="dim"))
    floor = found.floor.asdict()
    facts = document("tpch", plan, [duel.asdict() for duel in found.duels], found.verdicts(), floor_ms=floor)
    _report(given, facts, found.verdicts(), save, picture, check)


def asked(only: Sequence[str] | None) -> Sequence[str]:
    """The queries of TPC-H that were named; none: all."""
    from ...testing.tpch.catalogue import QUERIES

    known = [q.name for q in QUERIES]
    unknown = [name for name in only or () if name not in known]
    if unknown:
        raise typer.BadParameter(f"{unknown[0]!r} is not one of {', '.join(known)}", param_hint="--only")
    return only or ()


def matrix(
    ctx: typer.Context,
    rows: Annotated[list[int] | None, typer.Option("--rows", min=100, help="A size of the table.")] = None,
    change: Annotated[
        list[float] | None, typer.Option("--change", min=0, max=1, help="A share of rows that changes.")
    ] = None,
    only: Annotated[list[str] | None, typer.Option("--only", help="A kind of query, as join; may be repeated.")] = None,
    auto: Annotated[bool, typer.Option("--auto", help="Measure a stream table in AUTO mode beside it.")] = False,
    full: Annotated[bool, typer.Option("--full/--no-full", help="Measure FULL refreshes of the same change.")] = True,
    brief: Annotated[
        bool, typer.Option("--brief", help="Time what takes four times as long as the other way only once.")
    ] = False,
    duckdb: DuckDB = False,
    rounds: Rounds = 5,
    warmups: Warmups = 15,
    save: Save = None,
    picture: Picture = None,
    within: Within = None,
    check: Check = False,
    json: Json = False,
) -> None:
    """Kinds of queries × sizes of tables × sizes of changes."""
    from ...testing.bench import arena
    from ...testing.bench.refreshes.matrix import Plan, measure, verdicts
    from ...testing.bench.refreshes.report import document
    from ...testing.bench.refreshes.report import save as write
    from ...testing.bench.refreshes.scenarios import SCENARIOS

    given, known = options(ctx, json), [s.name for s in SCENARIOS]
    unknown = [name for name in only or () if name not in known]
    if unknown:
        raise typer.BadParameter(f"{unknown[0]!r} is not one of {', '.join(known)}", param_hint="--only")
    if auto and not full:
        raise typer.BadParameter("AUTO is held against both ways, so --auto needs --full", param_hint="--auto")
    plan = Plan(rows or Plan.rows, change or Plan.changes, only or (), rounds, warmups, auto, duckdb, full, brief)
    cells = []
    with arena(1.0, within, settings=given.settings) as place:
        for cell in measure(place, plan, lambda text: given.output.say(text, style="dim")):
            cells.append(cell)
            found = verdicts(cells, brief)
            facts = document("matrix", plan, [c.asdict() for c in cells], found)
            if save is not None:  # a long run that is ended early leaves what it measured
                write(facts, save)
    _report(given, facts, found, save, picture, check)


def dag(
    ctx: typer.Context,
    scale: Scale = 1.0,
    rounds: Rounds = 7,
    warmups: Warmups = 3,
    save: Save = None,
    picture: Picture = None,
    within: Within = None,
    check: Check = False,
    json: Json = False,
) -> None:
    """Waves of refreshes: a chain of ten stream tables, a fan of twenty, a diamond."""
    from ...testing.bench import arena
    from ...testing.bench.refreshes.dag import measure, verdicts
    from ...testing.bench.refreshes.floor import aggregate_floor
    from ...testing.bench.refreshes.report import document

    given, plan = options(ctx, json), {"scale": scale, "rounds": rounds, "warmups": warmups}
    with arena(scale, within, settings=given.settings) as place:
        duels = measure(place, rounds, warmups, lambda text: given.output.say(text, style="dim"))
        floor = aggregate_floor(place.spark).asdict()
    found = verdicts(duels)
    facts = document("dag", plan, [duel.asdict() for duel in duels], found, floor_ms=floor)
    _report(given, facts, found, save, picture, check)


def soak(
    ctx: typer.Context,
    cycles: Annotated[int, typer.Option("--cycles", min=20, help="Changes and refreshes.")] = 1000,
    scale: Annotated[float, typer.Option("--scale", min=0.0001, max=100, help="Factor on the 1M rows.")] = 1.0,
    save: Save = None,
    within: Within = None,
    check: Check = False,
    json: Json = False,
) -> None:
    """A thousand refreshes of a join-aggregate over 1M rows: time, memory and files must not grow."""
    from ...testing.bench import arena
    from ...testing.bench.refreshes.report import document
    from ...testing.bench.refreshes.soak import SETTINGS, measure, verdicts

    given = options(ctx, json)
    with arena(scale, within, settings=SETTINGS | given.settings) as place:
        laps = measure(place, cycles, lambda text: given.output.say(text, style="dim"))
    found = verdicts(laps)
    facts = document("soak", {"cycles": cycles, "scale": scale}, [lap.asdict() for lap in laps], found)
    _report(given, facts, found, save, None, check)


def compare(
    ctx: typer.Context,
    before: Annotated[Path, typer.Argument(help="A file that --save wrote.", exists=True, dir_okay=False)],
    after: Annotated[Path, typer.Argument(help="Another one of the same benchmark.", exists=True, dir_okay=False)],
    json: Json = False,
) -> None:
    """Two saved runs side by side: how much longer each refresh took in the second one."""
    from ...testing.bench.refreshes.report import Compared, compared, read

    given = options(ctx, json)
    given.output.rows(Rows.of(compared(read(before), read(after)), Compared))


def _report(
    given: Options,
    facts: dict[str, Any],
    verdicts: Sequence[Verdict],
    save: Path | None,
    picture: Path | None,
    check: bool,
) -> None:
    if picture is not None:
        from ...testing.bench.refreshes.picture import draw

        draw(facts, picture)
    rows = [row for row in facts["measured"] if "gain" in row]
    if given.format == "table" and rows:
        given.output.rows(duel_table(rows, facts.get("floor_ms")))
    conclude(given, facts, verdicts, save, check)


def conclude(
    given: Options, facts: dict[str, Any], verdicts: Sequence[Verdict], save: Path | None, check: bool
) -> None:
    """What was measured to a file and to programs, the verdicts to all."""
    from ...testing.bench.refreshes.report import save as write

    if save is not None:
        write(facts, save)
    if given.format != "table":
        given.output.rows(Rows(list(facts), [tuple(facts.values())]))
    for verdict in verdicts:
        given.output.say(str(verdict), style="green" if verdict.met else "red")
    if check and not all(verdict.met for verdict in verdicts):
        raise typer.Exit(ExitCode.FAILED)
