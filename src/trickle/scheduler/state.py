"""What the scheduler knows when it decides: values only."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ..schedules import Clock

NO_LIMIT = sys.maxsize


@dataclass(frozen=True, slots=True)
class Read:
    """A stored table that a member reads."""

    table: int
    is_stream: bool


@dataclass(frozen=True, slots=True)
class Member:
    """A stream table as the graph knows it."""

    id: int
    reads: tuple[Read, ...]
    clocks: tuple[Clock, ...]


@dataclass(frozen=True, slots=True)
class Unit:
    """Stream tables that are committed together, sources first; most often one alone."""

    members: tuple[Member, ...]
    sources: tuple[int, ...] = ()
    """The units it reads, by their places among all units."""
    slowest: bool = False
    """The member that is due last sets the pace, not the one that is due first."""
    pace: float = 1.0
    """How much longer than they say its intervals are: by tier."""
    limit: int = NO_LIMIT
    """How many refreshes may run at once while it does, itself included."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a stream table is."""

    frontier: int | None
    seen: int | None = None
    pending: bool = False


@dataclass(frozen=True, slots=True)
class Course:
    """What happened to a unit lately."""

    started: datetime
    """When it was last begun, or the scheduler itself if it never was."""
    running: bool = False
    """Here, or under somebody else's lease."""
    here: bool = False
    """By a worker of this scheduler."""
    since: datetime | None = None
    """When it was first seen to be behind."""
    factor: int = 1
    """Its intervals are stretched by this because it could not keep up."""
    takes: float = 0.0
    """Seconds within which it is nearly always done."""
    retry_at: datetime | None = None
    block: str = ""
    """Why it may not run: gated, watermark, fuse_blown, suspended, …"""


@dataclass(frozen=True)
class State:
    head: int
    units: Sequence[Unit]
    """Sources before their readers."""
    courses: Sequence[Course]
    standings: Mapping[int, Standing]
    changed: Mapping[int, int] = field(default_factory=dict)
    """The last snapshot that changed each stored table."""
    free: int = 1
    """Workers without work."""


@dataclass(frozen=True, slots=True)
class Start:
    """Refresh this unit now, to this data snapshot."""

    unit: int
    target: int
    due: datetime


@dataclass(frozen=True, slots=True)
class Skip:
    """It is due, but something holds it."""

    unit: int
    reason: str


@dataclass(frozen=True)
class Plan:
    """What to do now, and when to ask again."""

    starts: tuple[Start, ...]
    skips: tuple[Skip, ...]
    behind: frozenset[int]
    """Units with a change to come."""
    idle: frozenset[int]
    """Units that are exact for the head as they are."""
    struck: frozenset[int]
    """Idle units whose time came and went: there was nothing to do."""
    coming: frozenset[int]
    """Units at work, or that will be when their time comes: nobody has to do anything for it."""
    wake: datetime | None
    """When the next one is due, if nothing happens before."""
