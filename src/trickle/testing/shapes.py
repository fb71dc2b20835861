"""Tables as the generator knows them, and phrases that say the same in Spark's and in DuckDB's dialect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from trickle.testing.kinds import Kind
from trickle.testing.rows import Row, Rows, plain, type_name


@dataclass(frozen=True)
class Phrase:
    """One piece of SQL in both dialects."""

    spark: str
    duckdb: str


def phrase(template: str, **parts: Phrase | str | int) -> Phrase:
    """Fill a template that both dialects share.

    >>> phrase("DELETE FROM {t} WHERE {c} > {n}", t=name("a b"), c=name("k"), n=3)
    Phrase(spark='DELETE FROM `a b` WHERE `k` > 3', duckdb='DELETE FROM "a b" WHERE "k" > 3')
    """
    spark = {key: part.spark if isinstance(part, Phrase) else part for key, part in parts.items()}
    duckdb = {key: part.duckdb if isinstance(part, Phrase) else part for key, part in parts.items()}
    return Phrase(template.format(**spark), template.format(**duckdb))


def name(identifier: str) -> Phrase:
    return Phrase("`" + identifier.replace("`", "``") + "`", '"' + identifier.replace('"', '""') + '"')


def literal(kind: Kind, value: Any) -> Phrase:
    return Phrase(kind.spark_literal(value), kind.duckdb_literal(value))


def type_of(kind: Kind) -> Phrase:
    return Phrase(kind.spark, kind.duckdb)


def listed(parts: Sequence[Phrase], separator: str = ", ") -> Phrase:
    return Phrase(separator.join(p.spark for p in parts), separator.join(p.duckdb for p in parts))


@dataclass(frozen=True)
class Field:
    """A column with an identity that renames and widening keep."""

    id: int
    name: str
    kind: Kind
    nullable: bool = True
    default: Any = None
    initial: Any = None
    """What rows hold that are older than the column."""


@dataclass(frozen=True)
class Shape:
    """A table: its identity, name and columns. The first column is the key `k` that predicates use."""

    id: int
    name: str
    fields: tuple[Field, ...]
    partitioned_by: int | None = None

    @property
    def key(self) -> Field:
        return self.fields[0]

    def with_field(self, field: Field) -> Shape:
        """The field added, or put in the place of the one with its id."""
        if all(field.id != old.id for old in self.fields):
            return replace(self, fields=(*self.fields, field))
        return replace(self, fields=tuple(field if old.id == field.id else old for old in self.fields))

    def without(self, field: Field) -> Shape:
        return replace(self, fields=tuple(old for old in self.fields if old.id != field.id))

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        return tuple((field.name, type_name(field.kind.arrow)) for field in self.fields)


def seen_as(rows: Rows, old: Shape, new: Shape) -> Rows:
    """Rows of an old shape under a newer one: columns by identity, new ones with their initial value."""
    positions = {field.id: index for index, field in enumerate(old.fields)}
    fills = [plain(field.initial, field.kind.arrow) for field in new.fields]
    counts: Counter[Row] = Counter()
    for row, weight in rows.counts.items():
        moved: Row = tuple(
            row[positions[field.id]] if field.id in positions else fill
            for field, fill in zip(new.fields, fills, strict=True)
        )
        counts[moved] += weight
    return Rows(new.columns, counts)
