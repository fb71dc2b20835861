"""How to refresh: a pure decision from facts; the answer is a value with a reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from ..registry.models import Refresh
from . import costs
from .costs import Estimate

COLD_RATIO = 0.15
"""Without history, a larger share of changed rows than this makes AUTO recompute."""
MARGIN = 1.15
"""The other way must look this much cheaper than the last one: decisions near the edge do not flap."""
STALE = timedelta(days=1)
"""What the other way took is measured again when that long ago, if it is not dearer by WORTH_A_LOOK."""
WORTH_A_LOOK = 1.5
WORTH_LEARNING = 5000
"""Sources of fewer rows than this are read in no time either way: the share of changed rows decides alone."""


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
    misplaced: bool = False
    """A source lost rows before the frontier, after that was read."""
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
    why: str = field(default="", compare=False, repr=False)
    """The same in figures, for people."""


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
    if facts.misplaced:
        return Choice("REINITIALIZE", "misplaced_delete")
    if facts.mode == "FULL":
        return Choice("FULL", "refresh_mode")
    if facts.obstacle:
        return Choice("FULL", f"not_incremental:{facts.obstacle}")
    return _cheaper(facts) if facts.mode == "AUTO" else _differential(facts)


def _differential(facts: Facts) -> Choice:
    return Choice("DIFFERENTIAL", "append_only_ended" if facts.append_only and facts.removed else "")


def _cheaper(facts: Facts) -> Choice:
    """The way that should take less time; one that may well is tried until that is known."""
    lines = costs.lessons(facts.history)
    share = facts.changed_rows / facts.source_rows if facts.source_rows else 0.0
    full = costs.full(lines, facts.changed_rows)
    if full is None or facts.source_rows < WORTH_LEARNING:
        return Choice("FULL", "change_ratio") if share > COLD_RATIO else _differential(facts)
    last = costs.last_choice(lines, facts.changed_rows)
    found = costs.differential(lines, facts.changed_rows)
    if found is None and share <= COLD_RATIO and not _is_settled(last):
        return _differential(facts)  # nothing speaks against it
    known = found or Estimate(full.ms * share / COLD_RATIO)
    way, is_trial = _decided(known, full, last, _is_due(lines, facts.changed_rows, known, full, last))
    why = f"differential should take {known}, full {full}"
    if way == "DIFFERENTIAL":
        return replace(_differential(facts), why=why)
    is_known = known.samples > 0 or _is_settled(last)
    return Choice("FULL", "cost_trial" if is_trial else "cost_model" if is_known else "change_ratio", why)


def _decided(differential: Estimate, full: Estimate, last: Refresh | None, is_due: bool) -> tuple[str, bool]:
    """DIFFERENTIAL or FULL, and whether only to learn what that takes.

    The last way goes on until the other one is known to be cheaper, or may be and was hardly tried, or not for long.
    A differential refresh that was cheaper than a full one is followed by another, whatever those before it took.
    """
    if last is None:
        return ("FULL" if differential.ms > full.ms else "DIFFERENTIAL"), False
    is_full = last.action == "FULL"
    own, other = (full, differential) if is_full else (differential, full)
    rival = "DIFFERENTIAL" if is_full else "FULL"
    if not own.is_sure:
        if other.ms < own.at_best:
            return rival, False
        is_new = is_full and other.samples == 0 and other.at_best < own.ms and not _is_settled(last)
        return (rival if is_new else last.action), is_new
    went_well = not is_full and last.duration_ms < other.ms
    if other.samples and other.ms * MARGIN < own.ms and not went_well:
        return rival, False
    is_trial = _is_stale(own, other) if other.is_sure else other.at_best < own.ms and not _is_settled(last)
    is_trial = is_trial or is_due
    return (rival if is_trial else last.action), is_trial


def _is_due(lines: Sequence[Refresh], rows: int, differential: Estimate, full: Estimate, last: Refresh | None) -> bool:
    """Whether enough was spent on the last way to try the other one, whatever speaks against it."""
    if last is not None and last.action == "FULL":
        return costs.is_due(lines, rows, differential.at_best)
    return full.samples == 0 and costs.full_is_due(lines, rows, full.ms)


def _is_settled(last: Refresh | None) -> bool:
    """Differential refreshes of this size were tried once, and were dearer; it may have been too long ago to see."""
    return last is not None and last.reason == "cost_model"


def _is_stale(own: Estimate, other: Estimate) -> bool:
    """The other way was not taken for long, and was not much dearer then."""
    if own.newest is None or other.newest is None or other.ms > WORTH_A_LOOK * own.ms:
        return False
    return own.newest - other.newest > STALE
