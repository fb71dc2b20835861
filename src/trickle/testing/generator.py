"""A seeded source of operations: it knows the tables it made, so that every statement it writes is valid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from random import Random
from typing import Any

from trickle.testing import statements
from trickle.testing.kinds import NULL_SHARE
from trickle.testing.operations import (
    DUCKDB_UPKEEP,
    INLINING_UPKEEP,
    TRICKLE_UPKEEP,
    Append,
    Change,
    Maintain,
    Operation,
    Step,
    Upkeep,
    Writer,
)
from trickle.testing.shapes import Field, Shape
from trickle.testing.shared_kinds import (
    ALL_KINDS,
    BOOLEAN,
    DATE,
    INLINABLE,
    INT,
    STRING,
    TINYINT,
    WIDER,
    WITH_DEFAULT,
)

TABLE_NAMES = ("t", "Ünï cödé", 'q"uo`te', "select", "orders")
COLUMN_NAMES = ("c{}", "Größe{}", "a b{}", "Case{}", "order{}", "x.y{}")
MOST_TABLES = 3
MOST_FIELDS = 9
PARTITION_KINDS = (BOOLEAN, TINYINT, INT, DATE, STRING)


class Generator:
    """Draws operations. `shapes` are the tables as they are after all operations drawn so far.

    With `inlining`, DuckDB may keep small changes in the catalog instead of in files.
    """

    def __init__(
        self,
        seed: int,
        inlining: bool = False,
        writers: tuple[Writer, ...] = (Writer.TRICKLE, Writer.DUCKDB),
    ) -> None:
        self.rng = Random(seed)
        self._kinds = INLINABLE if inlining else ALL_KINDS
        self._duckdb_upkeep = DUCKDB_UPKEEP + INLINING_UPKEEP if inlining else DUCKDB_UPKEEP
        self.shapes: dict[str, Shape] = {}
        self._writers = writers
        self._ids = count(1)
        self._keys = count(1)

    def next(self) -> Operation:
        if not self.shapes:
            return self._single(self._create_table)
        choices: tuple[tuple[int, Callable[[], Operation]], ...] = (
            (22, lambda: self._single(self._insert)),
            (8, lambda: self._single(self._insert_select)),
            (14, lambda: self._single(self._update)),
            (12, lambda: self._single(self._delete)),
            (8, lambda: self._single(self._merge)),
            (2, lambda: self._single(self._truncate)),
            (10, self._transaction),
            (13, lambda: self._single(self._alter)),
            (4, lambda: self._single(self._create_table)),
            (1, lambda: self._single(self._drop_table)),
            (12, self._maintain),
        )
        weights = [weight for weight, _ in choices]
        makers = [maker for _, maker in choices]
        return self.rng.choices(makers, weights)[0]()

    def _writer(self) -> Writer:
        return self.rng.choice(self._writers)

    def _single(self, make: Callable[[Writer], Step]) -> Change:
        writer = self._writer()
        return Change(writer, (make(writer),))

    def _transaction(self) -> Change:
        """Two to four data statements over any tables, one in six rolled back."""
        writer = self._writer()
        makers = (self._insert, self._update, self._delete, self._merge, self._insert_select)
        steps = tuple(self.rng.choice(makers)(writer) for _ in range(self.rng.randint(2, 4)))
        return Change(writer, steps, atomic=True, rolled_back=self.rng.random() < 1 / 6)

    def _maintain(self) -> Maintain:
        writer = self._writer()
        upkeep = self.rng.choice(TRICKLE_UPKEEP if writer is Writer.TRICKLE else self._duckdb_upkeep)
        table = self._shape().name if upkeep is Upkeep.CLUSTER else None
        return Maintain(writer, upkeep, table)

    def _shape(self) -> Shape:
        return self.shapes[self.rng.choice(sorted(self.shapes))]

    def _row(self, shape: Shape) -> tuple[Any, ...]:
        key = None if shape.key.nullable and self.rng.random() < NULL_SHARE else next(self._keys)
        return (key, *(field.kind.maybe(self.rng) for field in shape.fields[1:]))

    def _insert(self, writer: Writer) -> Step:
        """Complete rows as VALUES or as data, or rows that leave columns to their defaults."""
        shape = self._shape()
        rows = tuple(self._row(shape) for _ in range(self.rng.choice((1, 1, 2, 3, 6, 25))))
        if self.rng.random() < 0.3:
            chosen = (0, *(i for i in range(1, len(shape.fields)) if self.rng.random() < 0.6))
            partial = replace(shape, fields=tuple(shape.fields[i] for i in chosen))
            return statements.insert(partial, [tuple(row[i] for i in chosen) for row in rows])
        step = statements.insert(shape, rows)
        if writer is Writer.TRICKLE and self.rng.random() < 0.4:
            return replace(step, append=Append(shape, rows, self.rng.choice(("arrow", "dicts", "spark"))))
        return step

    def _insert_select(self, writer: Writer) -> Step:
        return statements.insert_select(self.rng, self._shape(), self._shape())

    def _update(self, writer: Writer) -> Step:
        shape = self._shape()
        return statements.update(self.rng, shape, self._shape())

    def _delete(self, writer: Writer) -> Step:
        return statements.delete(self.rng, self._shape(), self._shape())

    def _merge(self, writer: Writer) -> Step:
        """Source keys are unique: a target row has at most one match."""
        shape = self._shape()
        rows = [self._row(shape) for _ in range(self.rng.randint(1, 5))]
        recent = next(self._keys)
        keys = self.rng.sample(range(max(1, recent - 25), recent + 5), len(rows))
        source = [(key, *row[1:]) for key, row in zip(keys, rows, strict=True)]
        return statements.merge(self.rng, shape, source, single_action=writer is Writer.DUCKDB)

    def _truncate(self, writer: Writer) -> Step:
        return statements.truncate(self._shape())

    def _create_table(self, writer: Writer) -> Step:
        free = [table for table in TABLE_NAMES if table not in self.shapes]
        if len(self.shapes) >= MOST_TABLES or not free:
            return self._insert(writer)
        key = Field(next(self._ids), "k", INT, nullable=self.rng.random() < 0.5)
        fields = [self._field(initial=False) for _ in range(self.rng.randint(1, 6))]
        shape = Shape(next(self._ids), self.rng.choice(free), (key, *fields))
        candidates = [field.id for field in fields if field.kind in PARTITION_KINDS]
        if writer is Writer.TRICKLE and candidates and self.rng.random() < 0.3:
            shape = replace(shape, partitioned_by=self.rng.choice(candidates))
        self.shapes[shape.name] = shape
        return statements.create_table(shape)

    def _drop_table(self, writer: Writer) -> Step:
        if len(self.shapes) == 1:
            return self._truncate(writer)
        shape = self._shape()
        del self.shapes[shape.name]
        return statements.drop_table(shape)

    def _field(self, initial: bool) -> Field:
        """A new column; a default, where it has one, is a scalar literal."""
        id = next(self._ids)
        label = self.rng.choice(COLUMN_NAMES).format(id)
        kind = self.rng.choice(self._kinds)
        if kind not in WITH_DEFAULT or self.rng.random() < 0.6:
            return Field(id, label, kind)
        default = kind.value(self.rng)
        return Field(id, label, kind, default=default, initial=default if initial else None)

    def _alter(self, writer: Writer) -> Step:
        shape = self._shape()
        movable = [field for field in shape.fields[1:] if field.id != shape.partitioned_by]
        makers: list[Callable[[Shape, list[Field]], Step]] = []
        if len(shape.fields) < MOST_FIELDS:
            makers.append(self._add_column)
        if len(movable) > 1:
            makers.append(self._drop_column)
        if movable:
            makers.append(self._rename_column)
        if any(field.kind in WIDER for field in movable):
            makers += [self._widen_column] * 2
        return self.rng.choice(makers)(shape, movable)

    def _add_column(self, shape: Shape, movable: list[Field]) -> Step:
        field = self._field(initial=True)
        self.shapes[shape.name] = shape.with_field(field)
        return statements.add_column(shape, field)

    def _drop_column(self, shape: Shape, movable: list[Field]) -> Step:
        field = self.rng.choice(movable)
        self.shapes[shape.name] = shape.without(field)
        return statements.drop_column(shape, field)

    def _rename_column(self, shape: Shape, movable: list[Field]) -> Step:
        old = self.rng.choice(movable)
        new = replace(old, name=self.rng.choice(COLUMN_NAMES).format(next(self._ids)))
        self.shapes[shape.name] = shape.with_field(new)
        return statements.rename_column(shape, old, new)

    def _widen_column(self, shape: Shape, movable: list[Field]) -> Step:
        old = self.rng.choice([field for field in movable if field.kind in WIDER])
        new = replace(old, kind=self.rng.choice(WIDER[old.kind]))
        self.shapes[shape.name] = shape.with_field(new)
        return statements.widen_column(shape, new)
