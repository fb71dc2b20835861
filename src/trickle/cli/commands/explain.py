"""`trickle explain`: what a refresh of a stream table does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from statistics import median
from typing import TYPE_CHECKING, Annotated

import typer

from ...ops.words import milliseconds
from ..answers import show_facts
from ..options import Json, StreamTableName, options
from ..output import Output

if TYPE_CHECKING:
    from ...ops.explain import Explanation
    from ...ops.facts import HistoryRecord


Analyze = Annotated[bool, typer.Option("--analyze", help="Also refresh it, and say what that took.")]


def explain(ctx: typer.Context, name: StreamTableName, analyze: Analyze = False, json: Json = False) -> None:
    """Show a stream table's plan, the plan of its change, the SQL of both, and how each operator follows changes."""
    from ...ops.explain import Explanation

    given = options(ctx, json)
    with given.open() as db:
        with given.progress(f"explaining {name} …"):
            found = db.explain_st(name, analyze)
        found += [Explanation("cost", *line) for line in costs(db.refresh_history(name, 100))]
    if given.format == "table":
        tell(given.output, found)
    else:
        show_facts(given, found, Explanation)


def costs(history: Iterable[HistoryRecord]) -> Iterator[tuple[str, str]]:
    """What its refreshes took, by their action: (action, told)."""
    times: dict[str, list[float]] = {}
    for line in history:
        if not line.error and line.action not in ("NO_DATA", "SKIP"):
            times.setdefault(line.action, []).append(line.duration_ms)
    for action, took in sorted(times.items()):
        yield action, f"{milliseconds(median(took))} (median of {len(took)}), last {milliseconds(took[0])}"


def tell(output: Output, found: Iterable[Explanation]) -> None:
    """Section by section, one thing a line; plans as trees."""
    for section, lines in groupby(found, key=lambda line: line.section):
        output.say(section, style="bold")
        if section.endswith("plan"):
            for text in tree([line.detail for line in lines]):
                output.say(f"  {text}")
            continue
        for line in lines:
            label = "" if line.item.isdigit() else f"{line.item}: "
            output.say(f"  {label}{line.detail}".replace("\n", "\n  "))


def tree(lines: Sequence[str]) -> list[str]:
    """Lines that are indented by two spaces for each level, with branches drawn.

    >>> print("\\n".join(tree(["Join", "  Filter", "    Scan a", "  Scan b"])))
    Join
    ├── Filter
    │   └── Scan a
    └── Scan b
    """
    drawn: list[str] = []
    open_below: set[int] = set()
    for line in reversed(lines):
        depth = (len(line) - len(line.lstrip())) // 2
        open_below = {d for d in open_below if d <= depth}
        lead = "".join("│   " if d in open_below else "    " for d in range(1, depth))
        branch = "" if depth == 0 else "├── " if depth in open_below else "└── "
        drawn.append(lead + branch + line.strip())
        open_below.add(depth)
    return drawn[::-1]
