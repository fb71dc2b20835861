"""The tables that the catalogue's queries read: no key, NULLs everywhere, rows that occur twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

Make = Callable[[Random], str]


def maybe(value: Make, share: float = 0.15) -> Make:
    """The value, sometimes NULL."""
    return lambda rng: "NULL" if rng.random() < share else value(rng)


def whole(low: int, high: int) -> Make:
    return lambda rng: str(rng.randint(low, high))


def one_of(*values: Any) -> Make:
    return lambda rng: str(rng.choice(values))


def cents(rng: Random) -> str:
    return f"CAST({rng.randint(0, 9999) / 100:.2f} AS DECIMAL(8, 2))"


def half(rng: Random) -> str:
    """A double without an exact sum: tenths."""
    return f"CAST({rng.randint(1, 200) / 10} AS DOUBLE)"


def day(rng: Random) -> str:
    return f"DATE '2024-{rng.randint(1, 4):02}-{rng.randint(1, 28):02}'"


@dataclass(frozen=True)
class Source:
    name: str
    columns: tuple[tuple[str, str, Make], ...]
    rows: int
    """To begin with."""

    @property
    def ddl(self) -> str:
        return f"CREATE TABLE {self.name} ({', '.join(f'{name} {type}' for name, type, _ in self.columns)})"

    def row(self, rng: Random) -> str:
        return f"({', '.join(make(rng) for _, _, make in self.columns)})"

    def value(self, column: str, rng: Random) -> str:
        return next(make(rng) for name, _, make in self.columns if name == column)

    def insert(self, rng: Random, number: int, twice: int = 0) -> str:
        """New rows, the first `twice` of them two times."""
        rows = [self.row(rng) for _ in range(number)]
        return f"INSERT INTO {self.name} VALUES {', '.join([*rows, *rows[:twice]])}"


ORDERS = Source(
    "orders",
    (
        ("id", "INT", whole(1, 60)),
        ("cust", "INT", maybe(whole(1, 12))),
        ("item", "INT", maybe(whole(1, 8), 0.1)),
        ("qty", "INT", maybe(whole(0, 9), 0.25)),
        ("price", "DECIMAL(8, 2)", maybe(cents)),
        ("note", "STRING", maybe(one_of("'amber'", "'azure'", "'Birch'", "''", "'o''clock'"))),
        ("day", "DATE", maybe(day, 0.05)),
    ),
    rows=40,
)
CUSTOMERS = Source(
    "customers",
    (
        ("id", "INT", maybe(whole(1, 12), 0.1)),
        ("name", "STRING", one_of("'Ada'", "'Bo'", "'Cem'", "'Dörte'")),
        ("region", "STRING", maybe(one_of("'north'", "'south'", "'east'"))),
        ("vip", "BOOLEAN", maybe(one_of("TRUE", "FALSE"))),
    ),
    rows=12,
)
ITEMS = Source(
    "items",
    (
        ("id", "INT", maybe(whole(1, 8), 0.1)),
        ("kind", "STRING", maybe(one_of("'book'", "'tool'", "'toy'"), 0.1)),
        ("weight", "DOUBLE", maybe(half)),
    ),
    rows=8,
)
SOURCES = (ORDERS, CUSTOMERS, ITEMS)
