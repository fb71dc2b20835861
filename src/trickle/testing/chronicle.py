"""What a lake must hold at every snapshot, kept by a judge that knows neither files nor snapshots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.operations import Maintain, Operation
from trickle.testing.rows import Rows, rows_of
from trickle.testing.shapes import Shape, name, seen_as


@dataclass(frozen=True)
class TableState:
    shape: Shape
    rows: Rows


State = dict[str, TableState]


class Shadow:
    """The same statements on plain tables in DuckDB's memory: it cannot share the mistakes of a lake."""

    def __init__(self, peer: DuckDBPeer) -> None:
        self._peer = peer
        self._state: State = {}
        peer.run(None, "DROP SCHEMA IF EXISTS shadow CASCADE", "CREATE SCHEMA shadow")

    def apply(self, operation: Operation, shapes: dict[str, Shape]) -> State:
        """Run the operation and return every table's state after it."""
        if isinstance(operation, Maintain) or operation.rolled_back:
            return self._state
        texts = [step.text.duckdb for step in operation.steps]
        touched = sorted({step.table for step in operation.steps} & shapes.keys())
        reads = [f"FROM {name(table).duckdb}" for table in touched]
        results = self._peer.run(None, "USE memory.shadow", *texts, *reads)[1 + len(texts) :]
        fresh = {table: TableState(shapes[table], rows_of(r)) for table, r in zip(touched, results, strict=True)}
        self._state = {t: s for t, s in (self._state | fresh).items() if t in shapes}
        return self._state


@dataclass
class Chronicle:
    """The state of every snapshot from `states` on, and the operations that led there."""

    states: dict[int, State]
    operations: list[str] = field(default_factory=list)

    @property
    def head(self) -> int:
        return max(self.states)

    def note(self, operation: Operation, head: int, state: State) -> None:
        """An operation was done; every snapshot it made holds the state after it."""
        self.operations.append(f"{head}: {operation}")
        for snapshot in range(self.head + 1, head + 1):
            self.states[snapshot] = state

    def keep(self, snapshots: set[int]) -> None:
        """Forget what expired."""
        self.states = {id: state for id, state in self.states.items() if id in snapshots}

    def tables(self) -> Iterator[tuple[int, TableState]]:
        """Every table at every snapshot."""
        for snapshot, state in sorted(self.states.items()):
            for table in state.values():
                yield snapshot, table

    def pairs(self) -> Iterator[tuple[int, int, Shape, Rows]]:
        """Every A < B with every table of B and its change: state(B) − state(A) in B's columns."""
        for end, table in self.tables():
            for start in sorted(self.states):
                if start < end:
                    yield start, end, table.shape, table.rows - self._before(start, table.shape)

    def _before(self, start: int, shape: Shape) -> Rows:
        """What the table held at `start`: nothing if it is younger, even under a name used before."""
        for old in self.states[start].values():
            if old.shape.id == shape.id:
                return seen_as(old.rows, old.shape, shape)
        return Rows(shape.columns, Counter())
