"""`trickle explain`: what a refresh of a stream table does."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from ..answers import show_facts
from ..options import Json, StreamTableName, options
from ..output import Output

if TYPE_CHECKING:
    from ...ops.explain import Explanation

EXAMPLE = "trickle explain totals"

Analyze = Annotated[bool, typer.Option("--analyze", help="Also refresh it, and say what that took.")]


def explain(ctx: typer.Context, name: StreamTableName, analyze: Analyze = False, json: Json = False) -> None:
    """Show a stream table's plan, the plan of its change, the SQL of both, and how each operator follows changes."""
    from ...ops.explain import Explanation

    given = options(ctx, json)
    with given.open() as db:
        found = db.explain_st(name, analyze)
    if given.format == "table":
        tell(given.output, found)
    else:
        show_facts(given, found, Explanation)


def tell(output: Output, found: Iterable[Explanation]) -> None:
    """Section by section, one thing a line."""
    for section, lines in groupby(found, key=lambda line: line.section):
        output.say(section, style="bold")
        for line in lines:
            label = "" if line.item.isdigit() else f"{line.item}: "
            output.say(f"  {label}{line.detail}".replace("\n", "\n  "))
