"""Refresh groups: named stream tables that a scheduler always commits together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ..errors import AlreadyExists, ConfigError, NotFound
from ..records import Record, Records
from ..registry.scheduling import RefreshGroup, Scheduling
from ..sql.parse import table_name
from .streams import Streams


@dataclass(frozen=True)
class RefreshGroupRecord(Record):
    name: str
    members: tuple[str, ...]
    created_at: datetime


def create_refresh_group(streams: Streams, name: str, members: Sequence[str] | str) -> RefreshGroupRecord:
    """From now on a scheduler refreshes the members at one data snapshot, in one commit."""
    given = [m.strip() for m in members.split(",")] if isinstance(members, str) else list(members)
    labels = tuple(dict.fromkeys(streams.find(table_name(m)).label for m in given))
    if not name.strip():
        raise ConfigError("a refresh group needs a name", hint="give it one.")
    if len(labels) < 2:
        raise ConfigError(f'refresh group "{name}" needs two stream tables at least', hint="name them all.")
    streams.migrate()
    scheduling = Scheduling(streams.registry)
    group = RefreshGroup(name, labels, datetime.now(UTC))
    with streams.lake.catalog.writing() as connection:
        if any(g.name == name for g in scheduling.refresh_groups(connection)):
            raise AlreadyExists(f'refresh group "{name}" exists already', hint="drop it first.")
        scheduling.put_refresh_group(connection, name, group)
        scheduling.signal(connection)
    return RefreshGroupRecord(name, labels, group.created_at)


def drop_refresh_group(streams: Streams, name: str) -> None:
    """Its members go their own ways again."""
    known = [g.name for g in refresh_groups(streams)]
    if name not in known:
        raise NotFound(f'refresh group "{name}" does not exist', hint=f"there are: {', '.join(known) or 'none'}.")
    scheduling = Scheduling(streams.registry)
    with streams.lake.catalog.writing() as connection:
        scheduling.put_refresh_group(connection, name, None)
        scheduling.signal(connection)


def refresh_groups(streams: Streams) -> Records[RefreshGroupRecord]:
    with streams.lake.reading() as connection:
        found = Scheduling(streams.registry).refresh_groups(connection)
    return Records(RefreshGroupRecord(g.name, g.members, g.created_at) for g in found)
