"""The options of a stream table: one table of names, defaults and what they may be."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import ConfigError
from ..registry.models import MODES
from ..schedules import read_duration, read_schedule


@dataclass(frozen=True)
class Option:
    name: str
    default: Any
    meaning: str
    choices: tuple[Any, ...] = ()


OPTIONS = (
    Option(
        "schedule", "calculated", "when it is refreshed: a duration, a cron line, 'calculated', 'on_change', 'manual'"
    ),
    Option("refresh_mode", "AUTO", "how it is refreshed", MODES),
    Option("append_only", False, "its sources only grow: deletes end this, with a reported reason", (True, False)),
    Option("diamond_consistency", "atomic", "members of a diamond are committed together", ("atomic", "none")),
    Option("diamond_schedule_policy", "fastest", "which member sets the pace", ("fastest", "slowest")),
    Option("partition_by", None, "columns the stored rows are partitioned by"),
    Option("cluster_by", None, "columns the stored rows are sorted by; the group keys unless given"),
    Option("cdc_mode", None, "how changes of outside sources are captured"),
    Option(
        "fuse",
        None,
        "stop when a change is larger than the ceiling; 'auto', or 'on' without one: than usual",
        ("off", "on", "auto"),
    ),
    Option("fuse_ceiling", None, "changed rows that the fuse lets through"),
    Option("fuse_sensitivity", None, "k of mean + k·σ, what is usual by the history; 3 unless given"),
    Option("target_lag", None, "how far it may lag behind, a duration; sets the pace of a calculated schedule"),
    Option(
        "tier",
        "hot",
        "how often it is needed: waits ×1, ×2, ×10, never; 'auto': by when it was last read through Trickle",
        ("hot", "warm", "cold", "frozen", "auto"),
    ),
    Option(
        "worker_limit",
        None,
        "how many refreshes a scheduler may run at once while this one runs, itself included: 1, it runs alone",
    ),
    Option("source_ddl", "block", "what a change of a source's columns does", ("block", "adapt")),
    Option(
        "float_sums",
        "algebraic",
        "sums of floating-point numbers are merged, or their groups rescanned",
        ("algebraic", "rescan"),
    ),
    Option(
        "intermediates",
        "auto",
        "whether aggregates and the like below others are stored, hidden, beside its rows",
        ("auto", "always", "never"),
    ),
)
STORED_OTHERWISE = ("partition_by", "cluster_by", "float_sums", "intermediates")
"""Options that say how the rows are stored: with another value they are written anew."""
_BY_NAME = {o.name: o for o in OPTIONS}


def read_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options that were given, checked.

    >>> read_options({"refresh_mode": "full"})
    {'refresh_mode': 'FULL'}
    """
    return {name: _read(name, value) for name, value in given.items()}


def with_defaults(given: Mapping[str, Any]) -> dict[str, Any]:
    return consistent({o.name: o.default for o in OPTIONS} | read_options(given))


def consistent(options: dict[str, Any]) -> dict[str, Any]:
    """The options, if each makes sense beside the others."""
    mode = options["refresh_mode"]
    if options["append_only"] and mode in ("FULL", "IMMEDIATE"):
        raise ConfigError(
            f"append_only has no meaning with refresh_mode = '{mode}'", hint="use AUTO or DIFFERENTIAL, or omit it."
        )
    return options


def _schedule(value: Any) -> str:
    read_schedule(value)
    return str(value) if isinstance(value, str) else f"{value}s"


def _lag(value: Any) -> str:
    read_duration(value)
    return str(value) if isinstance(value, str) else f"{value}s"


def _positive(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = 0.0
    if isinstance(value, bool) or not 0 < number < float("inf"):
        raise ConfigError(f"a fuse cannot have {value!r}", hint="give a number above 0.")
    return number


def _workers(value: Any) -> int:
    text = str(value).strip()
    if not text.isdecimal() or int(text) < 1:
        raise ConfigError(f"a worker limit cannot be {value!r}", hint="give a whole number above 0.")
    return int(text)


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "schedule": _schedule,
    "target_lag": _lag,
    "worker_limit": _workers,
    "fuse_ceiling": _positive,
    "fuse_sensitivity": _positive,
}


def _read(name: str, value: Any) -> Any:
    option = _BY_NAME.get(name)
    if option is None:
        near = difflib.get_close_matches(name, _BY_NAME, n=1)
        guess = f'did you mean "{near[0]}"?' if near else f"options are {', '.join(_BY_NAME)}."
        raise ConfigError(f'unknown option "{name}" of a stream table', hint=guess)
    if name in ("partition_by", "cluster_by") and isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    if isinstance(value, tuple):
        value = list(value)
    if value is None and option.default is None:
        return None
    if name in _READERS:
        return _READERS[name](value)
    if not option.choices:
        return value
    folded = {str(c).casefold(): c for c in option.choices}
    if str(value).casefold() not in folded:
        raise ConfigError(
            f'option "{name}" cannot be {value!r}', hint=f"it must be one of {', '.join(map(str, option.choices))}."
        )
    return folded[str(value).casefold()]
