"""What a benchmark found, as JSON, and two of those side by side."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from statistics import median
from typing import Any

from ....records import Record
from .verdict import Verdict, geometric_mean


def document(
    bench: str, plan: object, measured: Sequence[Mapping[str, Any]], verdicts: Sequence[Verdict], **more: Any
) -> dict[str, Any]:
    asked = asdict(plan) if is_dataclass(plan) and not isinstance(plan, type) else plan
    return {
        "bench": bench,
        "machine": {"cores": os.cpu_count(), "system": platform.system(), "python": platform.python_version()},
        "plan": asked,
        **more,
        "measured": list(measured),
        "verdicts": [verdict.asdict() for verdict in verdicts],
    }


def save(facts: Mapping[str, Any], path: Path) -> None:
    path.write_text(json.dumps(facts, indent=1) + "\n")


def read(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_text())
    assert isinstance(found, dict)
    return found


@dataclass(frozen=True)
class Compared(Record):
    name: str
    before_ms: float
    after_ms: float
    ratio: float
    """after / before."""


def compared(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Compared]:
    """What both measured, by name, size and change; the last line is the geometric mean.

    >>> run = {"bench": "tpch", "measured": [{"name": "q01", "differential_ms": {"median": 50.0}}]}
    >>> [(c.name, c.ratio) for c in compared(run, run)]
    [('q01', 1.0), ('geometric mean', 1.0)]
    """
    first, second = _by_name(before), _by_name(after)
    found = [Compared(n, first[n], second[n], second[n] / first[n]) for n in first if n in second]
    if not found:
        return []
    columns = zip(*((c.before_ms, c.after_ms, c.ratio) for c in found), strict=True)
    means = [geometric_mean(values) for values in columns]
    return [*found, Compared("geometric mean", *means)]


def _by_name(facts: Mapping[str, Any]) -> dict[str, float]:
    """Medians of differential refreshes, of contests, or of a tenth of all cycles.

    Cells of a matrix are told apart by size and change.
    """
    if facts["bench"] == "soak":
        return _by_tenth(facts["measured"])
    found = {}
    for row in facts["measured"]:
        more = f" {row['rows']} {row['change']:g}" if "change" in row else ""
        found[row["name"] + more] = (row.get("differential_ms") or row["ours_ms"])["median"]
    return found


def _by_tenth(laps: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """
    >>> _by_tenth([{"cycle": n, "milliseconds": 10.0 * n} for n in (1, 2)])
    {'cycles 1 – 1': 10.0, 'cycles 2 – 2': 20.0}
    """
    size = -(-len(laps) // 10)
    parts = [laps[n : n + size] for n in range(0, len(laps), size)]
    return {f"cycles {p[0]['cycle']} – {p[-1]['cycle']}": median(lap["milliseconds"] for lap in p) for p in parts}
