"""Gates: a source that is being loaded holds the stream tables that read it, until it is opened again."""

from __future__ import annotations

import getpass
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from ..errors import QueryError
from ..execute.transaction import Transaction
from ..lake.lake import MAIN
from ..records import Record, Records
from ..registry.scheduling import Gate, Scheduling
from ..sql.statement import Name
from .streams import Streams


@dataclass(frozen=True)
class GateRecord(Record):
    source: str
    gated: bool
    gated_at: datetime
    ungated_at: datetime | None
    gated_by: str


@dataclass(frozen=True)
class GateStatus(GateRecord):
    gated_seconds: float
    """How long it was closed, or has been."""
    stream_tables: tuple[str, ...]
    """Those that read it."""


def gate_source(streams: Streams, name: Name) -> GateRecord:
    """Close it; closed already, it stays closed since when it was."""
    return _set(streams, name, closed=True)


def ungate_source(streams: Streams, name: Name) -> GateRecord:
    """Open it; what waited goes on with the next tick."""
    return _set(streams, name, closed=False)


def _set(streams: Streams, name: Name, closed: bool) -> GateRecord:
    source = source_name(streams, name)
    streams.migrate()
    scheduling, now = Scheduling(streams.registry), datetime.now(UTC)
    with streams.lake.catalog.writing() as connection:
        known = next((g for g in scheduling.gates(connection) if g.source == source), None)
        gate = known or Gate(source, False, now, now, user())
        if gate.gated != closed:
            gate = Gate(source, True, now, None, user()) if closed else replace(gate, gated=False, ungated_at=now)
        scheduling.put_gate(connection, gate)
        scheduling.signal(connection)
    return _record(streams, gate)


def source_gates(streams: Streams) -> Records[GateRecord]:
    """Every gate that was ever closed, with how it stands."""
    with streams.lake.reading() as connection:
        found = Scheduling(streams.registry).gates(connection)
    return Records(_record(streams, gate) for gate in found)


def bootstrap_gate_status(streams: Streams) -> Records[GateStatus]:
    """The same, with how long it was closed and whom it holds."""
    tables = streams.all()
    with streams.lake.reading() as connection:
        found = Scheduling(streams.registry).gates(connection)
    return Records(
        GateStatus(
            **_record(streams, gate).asdict(),
            gated_seconds=((gate.ungated_at or datetime.now(UTC)) - gate.gated_at).total_seconds(),
            stream_tables=tuple(t.label for t in tables if any(d.name == gate.source for d in t.dependencies)),
        )
        for gate in found
    )


def _record(streams: Streams, gate: Gate) -> GateRecord:
    return GateRecord(shown(streams, gate.source), gate.gated, gate.gated_at, gate.ungated_at, gate.gated_by)


def source_name(streams: Streams, name: Name) -> str:
    """A table or stream table as plans name it."""
    if streams.exists(name):
        return streams.find(name).stored
    transaction = Transaction.begin(streams.lake)
    if transaction.find_view(name) is not None:
        raise QueryError(f'"{name.label}" is a view', hint="name the tables that it reads.")
    table = transaction.table(name)
    return f"{table.schema}.{table.name}"


def shown(streams: Streams, source: str) -> str:
    """A source as people name it."""
    with streams.reading() as connection:
        found = streams.registry.stored(connection, [source])
    return found[0].label if found else source.removeprefix(f"{MAIN}.")


def user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
