"""Changes of the sources: what a seed says, cycle by cycle, in words that both engines understand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from trickle.testing.streams.sources import CUSTOMERS, ITEMS, ORDERS, SOURCES, Source


@dataclass(frozen=True)
class Cycle:
    """The statements between two refreshes, of which each source gets at least one."""

    statements: tuple[str, ...]


def beginnings(seed: int) -> Cycle:
    """The tables and their first rows."""
    rng = Random(seed)
    filled = tuple(source.insert(rng, source.rows, twice=3) for source in SOURCES)
    return Cycle((*(source.ddl for source in SOURCES), *filled))


def cycles(seed: int) -> Iterator[Cycle]:
    """Inserts in each, updates and deletes in most; join keys change on both sides in one cycle."""
    rng = Random(seed + 1)
    while True:
        statements = [statement for source in SOURCES for statement in _of(source, rng)]
        rng.shuffle(statements)
        yield Cycle(tuple(statements))


def _of(source: Source, rng: Random) -> list[str]:
    """A few changes of one source; it stays about as large as it is."""
    inserted = source.insert(rng, rng.randint(2, 4), twice=rng.randint(0, 1))
    other = rng.choice([_update_key, _update_value, _delete])(source, rng)
    return [inserted, other]


def _update_key(source: Source, rng: Random) -> str:
    key = {ORDERS.name: "cust", CUSTOMERS.name: "id", ITEMS.name: "id"}[source.name]
    old, new = rng.randint(1, 8), rng.choice([str(rng.randint(1, 8)), "NULL"])
    return f"UPDATE {source.name} SET {key} = {new} WHERE {key} = {old}"


def _update_value(source: Source, rng: Random) -> str:
    column = rng.choice([name for name, _, _ in source.columns if name not in ("id", "cust")])
    return f"UPDATE {source.name} SET {column} = {source.value(column, rng)} WHERE id % 5 = {rng.randint(0, 4)}"


def _delete(source: Source, rng: Random) -> str:
    some = "id IS NULL OR id % 7" if source is not ORDERS else "cust IS NULL OR id % 9"
    return f"DELETE FROM {source.name} WHERE {some} = {rng.randint(0, 6)}"
