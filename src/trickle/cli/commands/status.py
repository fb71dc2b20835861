"""`trickle status`: how stream tables stand."""

from __future__ import annotations

import typer

from ..answers import show_facts
from ..faces import STATUS
from ..options import Json, SomeStreamTable, named, options
from .listing import NONE


def status(ctx: typer.Context, name: SomeStreamTable = None, json: Json = False) -> None:
    """Show for which snapshot each stream table is exact, how far it lags behind, and what was done last."""
    from ...ops import facts

    given = options(ctx, json)
    with given.look() as ledger:
        found = facts.status(ledger, named(name))
    show_facts(given, found, facts.StatusRecord, NONE, STATUS)
    for fact in found:
        if fact.last_error:
            given.output.say(f"{fact.name}: {fact.last_error}", style="red")
    if any(fact.last_error for fact in found):
        given.output.say("`trickle health` says what to do")
