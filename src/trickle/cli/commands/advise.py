"""`trickle diagnose`, `recommend`, `group`: what is wrong, what would be better, what belongs together."""

from __future__ import annotations

from typing import Annotated

import typer

from ..answers import show_facts
from ..completion import stream_table_names
from ..examples import as_epilog
from ..options import Json, SomeStreamTable, named, options
from .health import show_ill
from .hold import GroupName

Members = Annotated[
    list[str], typer.Argument(help="The stream tables, two at least.", autocompletion=stream_table_names)
]
Modes = Annotated[bool, typer.Option("--mode", help="Recommend refresh modes, not schedules.")]
Clustering = Annotated[
    bool, typer.Option("--clustering", help="Recommend keys to cluster sources by, from what stream tables look up.")
]

groups = typer.Typer(help="Name stream tables that are always committed together.", no_args_is_help=True)


def diagnose(ctx: typer.Context, name: SomeStreamTable = None, json: Json = False) -> None:
    """Show which stream tables fail, are suspended or are held: why, and what to do."""
    from ...ops.diagnose import diagnose_errors

    given = options(ctx, json)
    with given.look() as ledger:
        show_ill(given, ledger, diagnose_errors(ledger, named(name)), "no stream table fails, is suspended or is held")


def recommend(
    ctx: typer.Context,
    name: SomeStreamTable = None,
    mode: Modes = False,
    clustering: Clustering = False,
    json: Json = False,
) -> None:
    """Show which schedules, or refresh modes, the history recommends; or how to cluster sources."""
    from ...ops.clustering import ClusteringRecommendation
    from ...ops.recommend import ModeRecommendation, ScheduleRecommendation

    given = options(ctx, json)
    with given.open() as db:
        if clustering:
            nothing = "no source is looked up by key"
            show_facts(given, db.recommend_clustering(name), ClusteringRecommendation, nothing)
        elif mode:
            show_facts(given, db.recommend_refresh_mode(name), ModeRecommendation, "no stream tables")
        else:
            found = db.schedule_recommendations() if name is None else db.recommend_schedule(name)
            show_facts(given, found, ScheduleRecommendation, "no stream tables")


@groups.command("create", epilog=as_epilog("trickle group create daily totals averages"))
def create(ctx: typer.Context, name: GroupName, members: Members, json: Json = False) -> None:
    """Name stream tables that schedulers commit together."""
    from ...ops.refresh_groups import RefreshGroupRecord

    given = options(ctx, json)
    with given.open() as db:
        show_facts(given, [db.create_refresh_group(name, members)], RefreshGroupRecord)


@groups.command("drop", epilog=as_epilog("trickle group drop daily"))
def drop(ctx: typer.Context, name: GroupName, json: Json = False) -> None:
    """Let the members go their own ways again."""
    given = options(ctx, json)
    with given.open() as db:
        db.drop_refresh_group(name)
    given.output.say("done")


@groups.command("list", epilog=as_epilog("trickle group list"))
def list_groups(ctx: typer.Context, json: Json = False) -> None:
    """List the groups."""
    from ...ops.refresh_groups import RefreshGroupRecord

    given = options(ctx, json)
    with given.open() as db:
        show_facts(given, db.refresh_groups(), RefreshGroupRecord, "no refresh groups")
