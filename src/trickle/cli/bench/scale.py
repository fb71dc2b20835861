"""`trickle bench scale`: thousands of stream tables and a million files in a real catalog."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ..options import Json, options
from .contests import Check, Ending, Rounds, Save, Within, tell


class CatalogKind(StrEnum):
    SQLITE = "sqlite"
    POSTGRES = "postgres"


def scale(
    ctx: typer.Context,
    tables: Annotated[int, typer.Option("--tables", min=2, help="Stream tables.")] = 10_000,
    files: Annotated[
        int, typer.Option("--files", min=10, help="Data files, a fifth of them of one table.")
    ] = 1_000_000,
    catalog: Annotated[
        CatalogKind, typer.Option("--catalog", help="The kind of catalog; for postgres a server is started.")
    ] = CatalogKind.SQLITE,
    rounds: Rounds = None,
    within: Within = None,
    save: Save = None,
    check: Check = False,
    json: Json = False,
) -> None:
    """Looks, commits, decisions and listings in a catalog of many stream tables and files, which are simulated."""
    from ...testing.bench import arena, hold
    from ...testing.bench.scale.contests import contests, lakes
    from ...testing.bench.scale.world import Size

    given, size = options(ctx, json), Size(tables, files)

    def say(text: str) -> None:
        given.output.say(text, style="dim")

    with arena(1.0, within, settings=given.settings) as place, lakes(place, size, catalog, say) as found:
        tell(given, "scale", (hold(contest, rounds) for contest in contests(found)), Ending(save, check))
