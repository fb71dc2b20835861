"""A picture of what a benchmark found: cost against the size of the table and of the change, or query by query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ....errors import ConfigError

_WAYS = {
    "differential_ms": "differential",
    "full_ms": "FULL refresh",
    "spark_ms": "recomputed by Spark",
    "duckdb_ms": "recomputed by DuckDB",
}


def draw(facts: Mapping[str, Any], path: Path) -> None:
    try:
        import matplotlib
    except ImportError as error:
        raise ConfigError("no picture without matplotlib", hint="pip install 'spark-trickle[bench]'.") from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    _matrix(pyplot, facts) if facts["bench"] == "matrix" else _queries(pyplot, facts)
    pyplot.savefig(path, dpi=110, bbox_inches="tight")
    pyplot.close("all")


def _queries(pyplot: Any, facts: Mapping[str, Any]) -> None:
    """Milliseconds of each way for each query."""
    rows = facts["measured"]
    names = [row["name"] for row in rows]
    _, axes = pyplot.subplots(figsize=(max(6, 0.5 * len(names)), 4))
    places = range(len(names))
    for number, (kind, label) in enumerate(_WAYS.items()):
        heights = [(row.get(kind) or {"median": 0.0})["median"] for row in rows]
        if any(heights):
            axes.bar([p + 0.2 * number - 0.3 for p in places], heights, 0.2, label=label)
    axes.set_yscale("log")
    axes.set_ylabel("ms")
    axes.set_xticks(list(places), names, rotation=60)
    axes.legend()


def _matrix(pyplot: Any, facts: Mapping[str, Any]) -> None:
    """Two fields for each kind of query: cost over the share that changes, a line for each size of the table, and
    cost over the size of the table, a line for each share. Dotted lines are what recomputing costs."""
    rows = facts["measured"]
    kinds = list(dict.fromkeys(row["scenario"] for row in rows))
    _, fields = pyplot.subplots(len(kinds), 2, figsize=(9, 2.8 * len(kinds)), squeeze=False)
    for (left, right), kind in zip(fields, kinds, strict=True):
        own = [row for row in rows if row["scenario"] == kind]
        _lines(left, own, over="change", by="rows")
        _lines(right, own, over="rows", by="change")
        left.set(title=kind, xlabel="share that changes", ylabel="ms")
        right.set(title=kind, xlabel="rows of the table", ylabel="ms")
    pyplot.tight_layout()


def _lines(axes: Any, rows: Sequence[Mapping[str, Any]], over: str, by: str) -> None:
    for value in sorted({row[by] for row in rows}):
        own = sorted((r for r in rows if r[by] == value), key=lambda r: r[over])
        places = [r[over] for r in own]
        label = f"{value:,} rows" if by == "rows" else f"{value:.2%}"
        drawn = axes.plot(places, [r["differential_ms"]["median"] for r in own], marker="o", label=label)
        axes.plot(places, [r["spark_ms"]["median"] for r in own], linestyle=":", color=drawn[0].get_color())
    axes.set(xscale="log", yscale="log")
    axes.legend(fontsize="small")
