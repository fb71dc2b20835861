"""How to refresh: a pure decision from facts; the answer is a value with a reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..registry.models import Refresh

COLD_RATIO = 0.15
"""Without history, a larger share of changed rows than this makes AUTO recompute."""
SAMPLES = 3
"""Differential refreshes to learn from before the cost model speaks."""
MARGIN = 1.25
"""A full refresh must look this much cheaper: decisions near the edge do not flap."""


@dataclass(frozen=True)
class Facts:
    """What is known before anything runs."""

    mode: str
    populated: bool = True
    suspended: bool = False
    full_requested: bool = False
    pending: str = ""
    """Why it must start anew."""
    obstacle: str = ""
    """The construct without a differential form."""
    changed: bool = True
    changed_rows: int = 0
    source_rows: int = 0
    expired: bool = False
    """The frontier's snapshot is gone."""
    append_only: bool = False
    removed: bool = False
    """A source lost rows, or had some replaced."""
    history: Sequence[Refresh] = ()
    held: str = ""
    """What keeps it from being refreshed: a gate, a watermark, a blown fuse."""
    ceiling: float | None = None
    """The most changed rows that its fuse lets through."""


@dataclass(frozen=True)
class Choice:
    action: str
    reason: str = ""


def choose(facts: Facts) -> Choice:
    """The action of a refresh.

    >>> choose(Facts("AUTO", changed_rows=10, source_rows=1000))
    Choice(action='DIFFERENTIAL', reason='')
    >>> choose(Facts("AUTO", changed_rows=500, source_rows=1000))
    Choice(action='FULL', reason='change_ratio')
    """
    if facts.suspended:
        return Choice("SKIP", "suspended")
    if facts.held:
        return Choice("SKIP", facts.held)
    if not facts.populated:
        return Choice("FULL", "initial_load")
    if facts.pending:
        return Choice("REINITIALIZE", facts.pending)
    if facts.full_requested:
        return Choice("FULL", "requested")
    if not facts.changed:
        return Choice("NO_DATA")
    if facts.ceiling is not None and facts.changed_rows > facts.ceiling:
        return Choice("SKIP", "fuse_blown")
    if facts.expired:
        return Choice("REINITIALIZE", "history_expired")
    if facts.mode == "FULL":
        return Choice("FULL", "refresh_mode")
    if facts.obstacle:
        return Choice("FULL", f"not_incremental:{facts.obstacle}")
    return _cheaper(facts) if facts.mode == "AUTO" else _differential(facts)


def _differential(facts: Facts) -> Choice:
    return Choice("DIFFERENTIAL", "append_only_ended" if facts.append_only and facts.removed else "")


def _cheaper(facts: Facts) -> Choice:
    full = next((h.duration_ms for h in facts.history if h.action in ("FULL", "REINITIALIZE") and not h.error), None)
    past = [h for h in facts.history if h.action == "DIFFERENTIAL" and not h.error]
    if full is not None and len(past) >= SAMPLES:
        return (
            Choice("FULL", "cost_model")
            if expected_ms(past, facts.changed_rows) > MARGIN * full
            else _differential(facts)
        )
    if facts.source_rows and facts.changed_rows / facts.source_rows > COLD_RATIO:
        return Choice("FULL", "change_ratio")
    return _differential(facts)


def expected_ms(past: Sequence[Refresh], changed_rows: int) -> float:
    """What a differential refresh of so many changed rows should take: a line through the past ones.

    A slope below zero is noise: then the median of the past speaks.
    """
    xs, ys = [h.changed_rows for h in past], [h.duration_ms for h in past]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - mean_x) ** 2 for x in xs)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / spread if spread else 0.0
    if slope <= 0:
        return sorted(ys)[len(ys) // 2]
    return max(mean_y + slope * (changed_rows - mean_x), min(ys))
