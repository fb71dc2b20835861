"""How a lake stands, as gauges."""

from __future__ import annotations

from collections.abc import Iterator

from ..ops.overview import STATES, Condition, Overview

Sample = tuple[str, tuple[str, ...], float]
"""A metric, the values of its labels, its value."""


def lake(overview: Overview) -> Iterator[Sample]:
    """Of the lake, and of each stream table."""
    yield "trickle_head_snapshot", (), overview.head
    for state in STATES:
        yield "trickle_stream_tables", (state,), len(overview.those(state))
    yield "trickle_schedulers", (), overview.schedulers
    yield "trickle_paused", (), overview.is_paused
    yield "trickle_queue_depth", (), overview.waiting
    yield "trickle_running", (), sum(c.is_running for c in overview.conditions)
    for condition in overview.conditions:
        yield from stream_table(condition)


def stream_table(condition: Condition) -> Iterator[Sample]:
    name, table = (condition.name,), condition.table
    for state in STATES:
        yield "trickle_state", (*name, state), condition.state == state
    yield "trickle_errors_in_row", name, table.errors_in_row
    if condition.lag is not None:
        yield "trickle_lag_seconds", name, condition.lag
    if condition.target_lag is not None:
        yield "trickle_target_lag_seconds", name, condition.target_lag
    if condition.fuse != "off":
        yield "trickle_fuse_blown", name, condition.fuse == "blown"
    if condition.held:
        yield "trickle_held", (*name, condition.held), 1
    if table.frontier is not None:
        yield "trickle_data_snapshot", name, table.frontier
    if condition.last is not None:
        yield "trickle_last_refresh_timestamp_seconds", name, condition.last.finished_at.timestamp()
