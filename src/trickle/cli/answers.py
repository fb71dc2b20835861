"""What a statement or a function answered, as rows, as facts and as sentences."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ..ops.function_record import FunctionRecord
from ..records import Record
from ..refresh.result import RefreshResult
from ..registry.models import StreamTable
from .faces import Face
from .options import Options
from .output import counted
from .tables import Rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ..session import Session

R = TypeVar("R", bound=Record)


@dataclass(frozen=True)
class Definition(Record):
    """A stream table after it was created or altered."""

    name: str
    schema: str
    status: str
    refresh_mode: str
    effective_mode: str
    obstacle: str
    """The construct that has no differential form; empty if there is none."""
    data_snapshot: int | None
    snapshot: int | None


def show(given: Options, result: Any, most: int = 0) -> None:
    """The answer of any statement; of a query at most so many rows for people, or all (0)."""
    match result:
        case None:
            given.output.say("done")
        case StreamTable():
            show(given, definition(result))
        case Record():
            given.output.fact(result, sentence(result))
        case list():
            given.output.rows(_listed(result))
        case str() | int():
            given.output.rows(_listed([result]))
        case _:
            with given.progress("reading …"):
                found = fetch(result, most if given.format == "table" else 0)
            given.output.rows(found)


def show_facts(
    given: Options, found: Iterable[R], kind: type[R], nothing: str = "", face: Face[R] | None = None
) -> None:
    """Facts as rows; people get them as their face says, and a word where there are none."""
    facts = list(found)
    if given.format == "table" and nothing and not facts:
        given.output.say(nothing)
    elif given.format == "table" and face is not None:
        given.output.rows(face.rows(facts))
    else:
        given.output.rows(Rows.of(facts, kind))


def definition(table: StreamTable) -> Definition:
    """A stream table as a fact."""
    from ..ops.facts import effective_mode

    return Definition(
        table.name,
        table.schema,
        table.status,
        table.refresh_mode,
        effective_mode(table),
        table.obstacle,
        table.frontier,
        table.snapshot,
    )


def defined(fact: Definition) -> str:
    """
    >>> defined(Definition("noise", "main", "ACTIVE", "AUTO", "FULL", "rand()", 7, 8))
    'stream table "noise" (AUTO, in effect FULL: rand() has no differential form) is exact for snapshot 7'
    """
    mode = fact.refresh_mode
    if fact.obstacle and mode == "AUTO":
        mode = f"{mode}, in effect {fact.effective_mode}: {fact.obstacle} has no differential form"
    state = "is not filled yet" if fact.data_snapshot is None else f"is exact for snapshot {fact.data_snapshot}"
    suspended = ", and suspended" if fact.status == "SUSPENDED" else ""
    return f'stream table "{fact.name}" ({mode}) {state}{suspended}'


def refreshed(result: RefreshResult) -> str:
    """
    >>> refreshed(RefreshResult("revenue", "DIFFERENTIAL", "", 2, 1, 480.2, 9, 10))
    'revenue: DIFFERENTIAL, +2 −1 rows in 480 ms, exact for snapshot 9'
    """
    action = f"{result.action} ({result.reason})" if result.reason else result.action
    is_idle = result.action in ("NO_DATA", "SKIP")
    touched = "" if is_idle else f", +{result.rows_inserted} −{result.rows_deleted} rows"
    took = f"in {result.duration_ms:.0f} ms"
    return f"{result.name}: {action}{touched} {took}, exact for snapshot {result.data_snapshot}"


def sentence(fact: Any) -> str:
    """How a person would say what a statement did."""
    match fact:
        case Definition():
            return defined(fact)
        case RefreshResult():
            return refreshed(fact)
        case FunctionRecord():
            return fact.said
    did = counted(fact.rows, "row") if fact.rows else "done"
    return f"{did}, snapshot {fact.snapshot}" if fact.snapshot is not None else did


def fetch(frame: DataFrame, most: int = 0) -> Rows:
    """The rows of a DataFrame, `most` of them or all (0)."""
    from ..lake.foreign import translated

    with translated("query"):
        found = (frame.limit(most + 1) if most else frame).toArrow()
    rows = list(zip(*(column.to_pylist() for column in found.columns), strict=True))
    return Rows(list(found.column_names), rows[:most] if most else rows, is_cut=0 < most < len(rows))


def answer(db: Session, query: str) -> Rows:
    """The rows of a query."""
    return fetch(db.sql(query))


def _listed(values: list[Any]) -> Rows:
    if values and isinstance(values[0], Record):
        return Rows.of(values, type(values[0]))
    return Rows(["value"], [(value,) for value in values])
