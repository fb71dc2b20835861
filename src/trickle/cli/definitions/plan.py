"""What has to be done so that a lake is as its folder says: a value, shown before anything happens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...ops.ledger import Ledger
from ...ops.options import with_defaults
from ...records import Record
from ...registry.models import StreamTable
from ...sql.names import Name
from .files import Defined

if TYPE_CHECKING:
    from ...session import Session

CREATE, REPLACE, ALTER, DROP, KEEP = "create", "replace", "alter", "drop", "keep"


@dataclass(frozen=True)
class Step(Record):
    """One stream table, and what is done to it."""

    name: str
    action: str
    detail: str
    file: str


@dataclass(frozen=True)
class Plan:
    """Steps in the order in which they are carried out: readers are dropped first, sources created first."""

    steps: tuple[Step, ...]
    defined: Mapping[str, Defined]

    @property
    def work(self) -> tuple[Step, ...]:
        return tuple(s for s in self.steps if s.action != KEEP)


def plan(ledger: Ledger, defined: Sequence[Defined], prune: bool = False) -> Plan:
    """What is new, what changed, what stays; and, if told so, what is no longer there."""
    held = {(t.schema.casefold(), t.name.casefold()): t for t in ledger.all()}
    keys = {d.key for d in defined}
    gone = [t for key, t in held.items() if key not in keys] if prune else []
    drops = [Step(t.label, DROP, "no file defines it", "") for t in _readers_first(gone)]
    steps = [_step(d, held.get(d.key)) for d in defined]
    return Plan((*drops, *steps), {d.label: d for d in defined})


def _step(defined: Defined, held: StreamTable | None) -> Step:
    if held is None:
        return Step(defined.label, CREATE, "", defined.file)
    dialect = str(defined.options.get("dialect", "spark"))
    if (_normal(held.query), held.dialect) != (_normal(defined.query), dialect):
        return Step(defined.label, REPLACE, "the query changed", defined.file)
    changed = ", ".join(f"{name}: {before} → {after}" for name, before, after in _changed(defined, held))
    return Step(defined.label, ALTER if changed else KEEP, changed, defined.file)


def _changed(defined: Defined, held: StreamTable) -> Iterator[tuple[str, Any, Any]]:
    chosen = with_defaults({k: v for k, v in defined.options.items() if k not in ("dialect", "initialize")})
    return ((k, held.options.get(k), v) for k, v in chosen.items() if held.options.get(k) != v)


def _readers_first(tables: Sequence[StreamTable]) -> list[StreamTable]:
    left, found = list(tables), []
    while left:
        read = {d.name for t in left for d in t.dependencies if d.name != t.stored}
        free = [t for t in left if t.stored not in read] or left[:1]
        found += free
        left = [t for t in left if t not in free]
    return found


def _normal(query: str) -> str:
    return " ".join(query.split()).rstrip(";")


def carry_out(db: Session, step: Step, wanted: Plan) -> None:
    """One step, which is one commit."""
    if step.action == DROP:
        db.drop_stream_table(_quoted(step.name))
    elif step.action != KEEP:
        defined = wanted.defined[step.name]
        db.create_or_replace_stream_table(defined.name.quote_spark(), defined.query, **defined.options)


def _quoted(label: str) -> str:
    schema, _, name = label.rpartition(".")
    return Name(schema or None, name).quote_spark()
