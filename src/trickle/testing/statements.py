"""Statements in both dialects over tables of known shape."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from trickle.testing.kinds import Scalar
from trickle.testing.operations import Step
from trickle.testing.shapes import Field, Phrase, Shape, listed, literal, name, phrase, type_of
from trickle.testing.shared_kinds import INT, SCALARS, STRING


def create_table(shape: Shape) -> Step:
    columns = listed([_definition(field) for field in shape.fields])
    text = phrase("CREATE TABLE {t} ({columns})", t=name(shape.name), columns=columns)
    for field in shape.fields:
        if field.id == shape.partitioned_by:
            spark = f"{text.spark} PARTITIONED BY ({name(field.name).spark})"
            text = Phrase(spark, text.duckdb)
    return Step(text, shape.name)


def _definition(field: Field) -> Phrase:
    text = phrase("{c} {type}", c=name(field.name), type=type_of(field.kind))
    if not field.nullable:
        text = phrase("{text} NOT NULL", text=text)
    if isinstance(field.kind, Scalar) and field.default is not None:
        default = Phrase(field.kind.spark_literal(field.default), field.kind.duckdb_default(field.default))
        text = phrase("{text} DEFAULT {v}", text=text, v=default)
    return text


def drop_table(shape: Shape) -> Step:
    return Step(phrase("DROP TABLE {t}", t=name(shape.name)), shape.name)


def truncate(shape: Shape) -> Step:
    return Step(phrase("TRUNCATE TABLE {t}", t=name(shape.name)), shape.name)


def add_column(shape: Shape, field: Field) -> Step:
    definition = _definition(field)
    return _alter(shape, phrase("ADD COLUMN {definition}", definition=definition))


def drop_column(shape: Shape, field: Field) -> Step:
    return _alter(shape, phrase("DROP COLUMN {c}", c=name(field.name)))


def rename_column(shape: Shape, old: Field, new: Field) -> Step:
    return _alter(shape, phrase("RENAME COLUMN {old} TO {new}", old=name(old.name), new=name(new.name)))


def widen_column(shape: Shape, new: Field) -> Step:
    return _alter(shape, phrase("ALTER COLUMN {c} TYPE {type}", c=name(new.name), type=type_of(new.kind)))


def _alter(shape: Shape, action: Phrase) -> Step:
    return Step(phrase("ALTER TABLE {t} {action}", t=name(shape.name), action=action), shape.name)


def insert(shape: Shape, rows: Sequence[tuple[Any, ...]]) -> Step:
    text = phrase(
        "INSERT INTO {t} ({columns}) VALUES {rows}",
        t=name(shape.name),
        columns=_names(shape.fields),
        rows=listed([_row(shape.fields, row) for row in rows]),
    )
    return Step(text, shape.name)


def _names(fields: Sequence[Field]) -> Phrase:
    return listed([name(field.name) for field in fields])


def _row(fields: Sequence[Field], row: tuple[Any, ...]) -> Phrase:
    values = listed([literal(field.kind, value) for field, value in zip(fields, row, strict=True)])
    return phrase("({values})", values=values)


def insert_select(rng: Random, shape: Shape, source: Shape) -> Step:
    """INSERT … SELECT of columns of the same kind, a literal where the source has none."""
    outputs = [_key_output(shape.key, source), *(_output(rng, field, source) for field in shape.fields[1:])]
    text = phrase(
        "INSERT INTO {t} SELECT {outputs} FROM {s} WHERE {p}",
        t=name(shape.name),
        outputs=listed(outputs),
        s=name(source.name),
        p=_key_predicate(rng, source.key),
    )
    return Step(text, shape.name)


def _key_output(key: Field, source: Shape) -> Phrase:
    """Keys stay small: predicates and updates compute with them."""
    template = "{k}" if key.nullable else "coalesce({k}, -1)"
    return phrase(template, k=name(source.key.name))


def _output(rng: Random, field: Field, source: Shape) -> Phrase:
    same = [other for other in source.fields if other.kind == field.kind]
    if same and rng.random() < 0.8:
        return name(rng.choice(same).name)
    return literal(field.kind, field.kind.maybe(rng))


def update(rng: Random, shape: Shape, other: Shape) -> Step:
    chosen = rng.sample(shape.fields, min(len(shape.fields), rng.randint(1, 2)))
    text = phrase(
        "UPDATE {t} SET {assignments} WHERE {p}",
        t=name(shape.name),
        assignments=listed([_assignment(rng, field, shape, other) for field in chosen]),
        p=predicate(rng, shape, other),
    )
    return Step(text, shape.name)


def _assignment(rng: Random, field: Field, shape: Shape, other: Shape) -> Phrase:
    return phrase("{c} = {v}", c=name(field.name), v=_new_value(rng, field, shape, other))


def _new_value(rng: Random, field: Field, shape: Shape, other: Shape) -> Phrase:
    if field.id == shape.key.id:
        return phrase("{k} + {n}", k=name(field.name), n=rng.choice((1, 100, 7)))
    twins = [twin for twin in shape.fields if twin.kind == field.kind]
    options = [literal(field.kind, field.kind.maybe(rng)), name(rng.choice(twins).name)]
    if field.kind == STRING:
        options.append(phrase("{c} || {v}", c=name(field.name), v=literal(STRING, "+")))
    if field.kind == INT:
        options.append(phrase("(SELECT max({k}) FROM {o})", k=name(other.key.name), o=name(other.name)))
    return rng.choice(options)


def delete(rng: Random, shape: Shape, other: Shape) -> Step:
    text = phrase("DELETE FROM {t} WHERE {p}", t=name(shape.name), p=predicate(rng, shape, other))
    return Step(text, shape.name)


def predicate(rng: Random, shape: Shape, other: Shape) -> Phrase:
    """Mostly on the key; sometimes on another column, a subquery, or everything."""
    dice = rng.random()
    if dice < 0.55:
        return _key_predicate(rng, shape.key)
    if dice < 0.85:
        return _column_predicate(rng, rng.choice(shape.fields))
    if dice < 0.97:
        return _subquery_predicate(rng, shape, other)
    return Phrase("TRUE", "TRUE")


def _key_predicate(rng: Random, key: Field) -> Phrase:
    low = rng.randint(0, 120)
    templates = (
        "{k} % {n} = {r}",
        "{k} BETWEEN {low} AND {high}",
        "{k} IN ({low}, {high}, {r})",
        "{k} IS NULL OR {k} > {high}",
        "NOT ({k} < {low})",
        "{k} = {low}",
    )
    modulus = rng.randint(2, 6)
    return phrase(
        rng.choice(templates),
        k=name(key.name),
        n=modulus,
        r=rng.randrange(modulus),
        low=low,
        high=low + rng.randint(1, 30),
    )


def _column_predicate(rng: Random, field: Field) -> Phrase:
    if field.kind not in SCALARS:
        return phrase(rng.choice(("{c} IS NULL", "{c} IS NOT NULL")), c=name(field.name))
    template = rng.choice(("{c} IS NULL", "{c} = {v}", "{c} <> {v}", "{c} > {v}", "{c} <= {v}"))
    return phrase(template, c=name(field.name), v=literal(field.kind, field.kind.value(rng)))


def _subquery_predicate(rng: Random, shape: Shape, other: Shape) -> Phrase:
    template = rng.choice(
        (
            "{k} IN (SELECT {ok} FROM {o} WHERE {p})",
            "{k} NOT IN (SELECT {ok} FROM {o} WHERE {ok} IS NOT NULL AND ({p}))",
            "EXISTS (SELECT 1 FROM {o} AS o WHERE o.{ok} = {t}.{k} + 1)",
            "{k} > (SELECT avg({ok}) FROM {o})",
        )
    )
    return phrase(
        template,
        k=name(shape.key.name),
        t=name(shape.name),
        ok=name(other.key.name),
        o=name(other.name),
        p=_key_predicate(rng, other.key),
    )


def merge(rng: Random, shape: Shape, rows: Sequence[tuple[Any, ...]], single_action: bool) -> Step:
    """MERGE with a random set of clauses. DuckDB's lakes allow one UPDATE or DELETE clause."""
    clauses = _matched(rng, shape) + _not_matched_by_source(rng, shape)
    if single_action:
        clauses = rng.sample(clauses, 1)
    names = _names(shape.fields)
    text = phrase(
        "MERGE INTO {t} AS t USING (VALUES {rows}) AS s({names}) ON t.{k} = s.{k} {clauses} "
        "WHEN NOT MATCHED THEN INSERT ({names}) VALUES ({sources})",
        t=name(shape.name),
        rows=listed([_row(shape.fields, row) for row in rows]),
        names=names,
        k=name(shape.key.name),
        clauses=listed(clauses, " "),
        sources=listed([phrase("s.{c}", c=name(field.name)) for field in shape.fields]),
    )
    return Step(text, shape.name)


def _matched(rng: Random, shape: Shape) -> list[Phrase]:
    field = rng.choice(shape.fields)
    update = phrase("WHEN MATCHED THEN UPDATE SET {c} = s.{c}", c=name(field.name))
    delete = phrase("WHEN MATCHED AND s.{k} % 3 = 0 THEN DELETE", k=name(shape.key.name))
    return rng.choice(([delete, update], [update], [delete]))


def _not_matched_by_source(rng: Random, shape: Shape) -> list[Phrase]:
    if rng.random() < 0.6:
        return []
    action = rng.choice(("DELETE", "UPDATE SET {k} = t.{k} + 1"))
    return [
        phrase("WHEN NOT MATCHED BY SOURCE AND t.{k} % 7 = 1 THEN " + action, k=name(shape.key.name)),
    ]
