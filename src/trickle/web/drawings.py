"""Pictures as SVG, drawn here: the graph of a lake, bars over time, lines in a table cell."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from ..ops.words import clock, count, milliseconds, seconds

WIDTH, HEIGHT, GAP_X, GAP_Y, EDGE = 196, 54, 84, 22, 16
SWEEPS = 4
CHART_WIDTH, CHART_HEIGHT, LEFT, BOTTOM = 640, 150, 58, 22
Facts = Mapping[str, Any]


def ticks(text: str) -> Markup:
    """What stands between backticks, as code.

    >>> ticks("`trickle run` < 1")
    Markup('<code>trickle run</code> &lt; 1')
    """
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text)))


# The graph.


def graph(facts: Facts) -> Markup:
    """Sources on the left, readers on the right, freshness by colour."""
    nodes = {n["name"]: n for n in facts["nodes"]}
    if not nodes:
        return Markup("")
    edges = [(e["source"], e["reader"]) for e in facts["edges"]]
    places = _places(list(nodes), edges)
    width = max(x for x, _ in places.values()) + WIDTH + EDGE
    height = max(y for _, y in places.values()) + HEIGHT + EDGE
    parts = [_edge(places[a], places[b], nodes[b]["state"]) for a, b in edges]
    parts += [_node(nodes[name], place) for name, place in places.items()]
    return Markup(
        f'<svg class="graph" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="what reads what">{"".join(parts)}</svg>'
    )


def _places(names: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, tuple[float, float]]:
    levels = _levels(names, edges)
    columns = _ordered(levels, edges)
    tallest = max(map(len, columns))
    return {
        name: (
            EDGE + x * (WIDTH + GAP_X),
            EDGE + (y + (tallest - len(column)) / 2) * (HEIGHT + GAP_Y),
        )
        for x, column in enumerate(columns)
        for y, name in enumerate(column)
    }


def _levels(names: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """The longest way to each; the names come with sources before readers, a circle stays in its column.

    >>> _levels(["a", "b", "c"], [("a", "b"), ("a", "c"), ("b", "c")])
    {'a': 0, 'b': 1, 'c': 2}
    """
    found: dict[str, int] = {}
    for name in names:
        found[name] = max((found[a] + 1 for a, b in edges if b == name and a in found), default=0)
    return found


def _ordered(levels: Mapping[str, int], edges: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Columns in which each node stands near the middle of its neighbours."""
    columns = [[n for n, level in levels.items() if level == x] for x in range(max(levels.values()) + 1)]
    for _ in range(SWEEPS):
        height = {n: y / max(len(column), 1) for column in columns for y, n in enumerate(column)}
        for column in columns:
            around = {n: [height[b if a == n else a] for a, b in edges if n in (a, b)] for n in column}
            column.sort(key=lambda n: sum(around[n]) / len(around[n]) if around[n] else height[n])
    return columns


def _edge(start: tuple[float, float], end: tuple[float, float], state: str | None) -> str:
    x1, y1 = start[0] + WIDTH, start[1] + HEIGHT / 2
    x2, y2 = end[0], end[1] + HEIGHT / 2
    bend = max((x2 - x1) / 2, 30)
    path = f"M{x1:.0f} {y1:.0f} C{x1 + bend:.0f} {y1:.0f} {x2 - bend:.0f} {y2:.0f} {x2 - 6:.0f} {y2:.0f}"
    head = f"M{x2 - 8:.0f} {y2 - 4:.0f} l8 4 l-8 4 z"
    return f'<path class="edge {state or ""}" d="{path}"/><path class="tip {state or ""}" d="{head}"/>'


def _node(node: Facts, place: tuple[float, float]) -> str:
    x, y = place
    name, state = node["name"], node["state"]
    said = node["kind"] if state is None else f"{state} · lag {seconds(node['lag_seconds'])}"
    shown = name if len(name) <= 24 else f"{name[:23]}…"
    box = (
        f'<g class="node {state or "source"}"><title>{escape(name)}: {escape(said)}</title>'
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{WIDTH}" height="{HEIGHT}" rx="{9 if state else 3}"/>'
        f'<circle cx="{x + 18:.0f}" cy="{y + 21:.0f}" r="5"/>'
        f'<text class="name" x="{x + 32:.0f}" y="{y + 25:.0f}">{escape(shown)}</text>'
        f'<text class="said" x="{x + 32:.0f}" y="{y + 42:.0f}">{escape(said)}</text></g>'
    )
    return f'<a href="/tables/{quote(name, safe="")}">{box}</a>' if state else box


# Charts.


def durations(history: Sequence[Facts]) -> Markup:
    """How long each refresh took, oldest left, by action."""
    lines = [h for h in reversed(history) if h["action"] != "SKIP" or h["error"]]
    bars = [(h["duration_ms"], "error" if h["error"] else h["action"].lower(), _told(h)) for h in lines]
    return _bars(bars, milliseconds, "how long refreshes took")


def rows(history: Sequence[Facts]) -> Markup:
    """How many rows each refresh touched."""
    lines = [h for h in reversed(history) if h["action"] != "SKIP"]
    bars = [(h["rows_inserted"] + h["rows_deleted"], h["action"].lower(), _told(h)) for h in lines]
    return _bars(bars, count, "rows that refreshes touched")


def _told(h: Facts) -> str:
    reason = f" ({h['reason']})" if h["reason"] else ""
    did = h["error"].splitlines()[0] if h["error"] else f"{h['action']}{reason}"
    return (
        f"{clock(h['started_at'])}: {did}, {milliseconds(h['duration_ms'])}, +{h['rows_inserted']} −{h['rows_deleted']}"
    )


def _bars(bars: Sequence[tuple[float, str, str]], unit: Any, label: str) -> Markup:
    if not bars:
        return Markup('<p class="none">nothing yet</p>')
    top = max(value for value, _, _ in bars) or 1.0
    inner, room = CHART_WIDTH - LEFT - 8, CHART_HEIGHT - BOTTOM - 10
    step = min(inner / len(bars), 26.0)
    drawn = "".join(_bar(n, value / top, kind, said, step, room) for n, (value, kind, said) in enumerate(bars))
    lines = "".join(_line(share, unit(top * share) if share else "0", room) for share in (0.0, 0.5, 1.0))
    ends = f'<text x="{LEFT}" y="{CHART_HEIGHT - 5}">older</text>'
    ends += f'<text x="{LEFT + step * len(bars):.0f}" y="{CHART_HEIGHT - 5}" text-anchor="end">newest</text>'
    ends = ends if step * len(bars) > 90 else ""
    return Markup(
        f'<svg class="chart" viewBox="0 0 {CHART_WIDTH} {CHART_HEIGHT}" role="img" aria-label="{label}">'
        f"{lines}{drawn}{ends}</svg>"
    )


def _bar(n: int, share: float, kind: str, said: str, step: float, room: float) -> str:
    height = max(share * room, 2.0)
    x, y = LEFT + n * step + 1, 10 + room - height
    width = max(step - 2, 1)
    return (
        f'<rect class="bar {kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="1.5">'
        f"<title>{escape(said)}</title></rect>"
    )


def _line(share: float, said: str, room: float) -> str:
    y = 10 + room * (1 - share)
    return (
        f'<line class="rule" x1="{LEFT}" x2="{CHART_WIDTH - 8}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{said}</text>'
    )


def sparkline(values: Sequence[float]) -> Markup:
    """A line as high as its highest value; nothing for fewer than two."""
    if len(values) < 2:
        return Markup("")
    top = max(values) or 1.0
    points = " ".join(f"{n * 96 / (len(values) - 1):.1f},{22 - value / top * 20:.1f}" for n, value in enumerate(values))
    said = f"{milliseconds(min(values))} to {milliseconds(top)}"
    return Markup(
        f'<svg class="spark" viewBox="0 0 96 24" width="96" height="24" role="img" aria-label="{said}">'
        f'<title>{said}</title><polyline points="{points}"/></svg>'
    )
