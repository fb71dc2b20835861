"""`trickle bench growth`: the same change at two scales."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from ..options import Json, options
from ..tables import Rows
from .contests import Check, Save, Within
from .duels import Rounds, Warmups, asked, conclude

if TYPE_CHECKING:
    from ...testing.bench.refreshes.growth import Grown


def growth(
    ctx: typer.Context,
    scale: Annotated[float, typer.Option("--scale", min=0.001, max=1000, help="TPC-H's scale factor.")] = 1.0,
    to: Annotated[float, typer.Option("--to", min=0.001, max=1000, help="The larger scale factor.")] = 10.0,
    orders: Annotated[int, typer.Option("--orders", min=1, help="Orders changed in a round.")] = 100,
    spread: Annotated[bool, typer.Option("--spread", help="Orders from all over the table, not neighbours.")] = False,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="A query, as q01; may be repeated. Else those reached by clustered keys."),
    ] = None,
    rounds: Rounds = 5,
    warmups: Warmups = 10,
    save: Save = None,
    within: Within = None,
    check: Check = False,
    json: Json = False,
) -> None:
    """TPC-H's queries after the same change at two scales: how much longer refreshes take over larger tables."""
    from ...testing.bench import arena
    from ...testing.bench.refreshes.growth import REACHED, measure, verdicts
    from ...testing.bench.refreshes.report import document
    from ...testing.bench.refreshes.tpch import Plan

    given = options(ctx, json)
    plan = Plan(scale, orders, spread, rounds, warmups, asked(only) or REACHED)
    places = partial(arena, 1.0, within, settings=given.settings)
    grown = measure(places, plan, to, lambda text: given.output.say(text, style="dim"))
    found = verdicts(grown)
    if given.format == "table":
        given.output.rows(_table(grown, scale, to))
    facts = document("growth", plan, [g.asdict() for g in grown], found, to=to)
    conclude(given, facts, found, save, check)


def _table(grown: list[Grown], scale: float, to: float) -> Rows:
    head = ["what", f"scale {scale:g}, ms", f"scale {to:g}, ms", "ratio"]
    return Rows(head, [(g.name, round(g.small.median, 1), round(g.large.median, 1), round(g.ratio, 2)) for g in grown])
