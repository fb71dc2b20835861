"""A random schema, its rows, and what happens to them: as statements."""

from __future__ import annotations

from random import Random

from trickle.testing.queries.types import NUMBER, STORED, Column, named
from trickle.testing.queries.writer import Tables
from trickle.testing.specs import Step, Story

NULLS = 0.3
TABLES = ("ta", "tb", "tc")
STEPS = 3


def random_tables(random: Random) -> Tables:
    """Three tables that share n1, and more columns by chance."""
    return {name: named([NUMBER, *random.sample(STORED, random.randint(2, 4))]) for name in TABLES}


def random_story(random: Random, tables: Tables, largest: int = 8) -> Story:
    """Tables made and filled, then changed in every way."""
    setup = []
    for name, columns in tables.items():
        declared = ", ".join(f"{c.name} {random.choice(c.type.declared)}" for c in columns)
        setup.append(f"CREATE TABLE {name} ({declared})")
        setup += _inserted(random, name, columns, random.randint(random.choice((0, 3, 5)), largest))
    steps = (Step(f"step {n}", tuple(_happening(random, tables))) for n in range(1, STEPS + 1))
    return Story(tuple(setup), tuple(steps))


def _happening(random: Random, tables: Tables) -> list[str]:
    """Changes of at least one table."""
    touched = [name for name in tables if random.random() < 0.8] or [random.choice(list(tables))]
    return [statement for name in touched for statement in _change(random, name, tables[name])]


def _change(random: Random, name: str, columns: tuple[Column, ...]) -> list[str]:
    kind = random.random()
    if kind < 0.1:
        return [f"DELETE FROM {name}", *_inserted(random, name, columns, random.choice((0, 2)))]
    statements = _inserted(random, name, columns, random.choice((1, 1, 2, 3)))
    if random.random() < 0.6:
        statements.append(f"DELETE FROM {name} WHERE {_picked(random, columns)}")
    if random.random() < 0.6:
        changed = random.sample(columns, random.choice((1, 1, 2)))
        cells = ", ".join(f"{c.name} = {_cell(random, c)}" for c in changed)
        statements.append(f"UPDATE {name} SET {cells} WHERE {_picked(random, columns)}")
    return statements


def _picked(random: Random, columns: tuple[Column, ...]) -> str:
    """A condition that some rows fulfil."""
    column = random.choice([c for c in columns if c.type.letter not in "lp"])
    return random.choice((f"{column.name} = {random.choice(column.type.values)}", f"{column.name} IS NULL"))


def _inserted(random: Random, name: str, columns: tuple[Column, ...], count: int) -> list[str]:
    rows = [f"({', '.join(_cell(random, c) for c in columns)})" for _ in range(count)]
    return [f"INSERT INTO {name} VALUES {', '.join(rows)}"] if rows else []


def _cell(random: Random, column: Column) -> str:
    return "NULL" if random.random() < NULLS else random.choice(column.type.values)
