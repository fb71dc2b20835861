"""The law under declared keys: random parents and children that respect them, judged by DuckDB."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import sqlglot

from trickle.delta import consolidate, differentiate
from trickle.delta.declared import Declared, Reference, Use, arrange, arranged, gone, rely, updated
from trickle.delta.state import Storage, initial, maintain, store
from trickle.plan import STORED, WEIGHT, Node, Version, before
from trickle.sql.lower import Query, lower
from trickle.sql.render import quote, render
from trickle.testing.oracle.engine import for_duckdb, judge
from trickle.testing.oracle.history import Row
from trickle.testing.oracle.stored import in_order

SCHEMAS = {
    "region": (("id", "INT"), ("name", "STRING")),
    "cust": (("id", "INT"), ("region", "INT"), ("boss", "INT"), ("v", "INT")),
    "ord": (("no", "INT"), ("part", "INT"), ("cust", "INT"), ("v", "INT")),
    "line": (("no", "INT"), ("part", "INT"), ("v", "INT")),
}
KEYS = {"region": 1, "cust": 1, "ord": 2}
"""How many first columns are the key."""
REFERENCES = (
    Reference("cust_region", "cust", ("region",), "region", ("id",)),
    Reference("cust_boss", "cust", ("boss",), "cust", ("id",)),
    Reference("ord_cust", "ord", ("cust",), "cust", ("id",)),
    Reference("line_ord", "line", ("no", "part"), "ord", ("no", "part")),
)
State = dict[str, list[Row]]
Made = Callable[[], tuple[Node, tuple[Use, ...]]]


@dataclass
class Shop:
    """Tables whose keys hold after every step, though not on the way."""

    random: Random
    orphans: float = 0.0
    """How often a child comes before its parent."""
    state: State = field(default_factory=lambda: {t: [] for t in SCHEMAS})

    def step(self) -> tuple[State, Mapping[str, list[Row]]]:
        """What each table holds next, and its change: rows with weights, which may cancel each other."""
        old = {t: list(rows) for t, rows in self.state.items()}
        for table in self.random.choice((list(SCHEMAS), list(SCHEMAS), ["cust", "ord"], ["ord", "line"], ["region"])):
            self._move(table, self.random.choice(("grow", "grow", "shrink", "mix", "update", "stay")))
        self._repair()
        changes = {t: _difference(old[t], self.state[t]) for t in SCHEMAS}
        for table, change in changes.items():
            if change and self.random.random() < 0.2 and self.state[table]:
                passing = self.random.choice(self.state[table])
                change += [(*passing, 1), (*passing, -1)]
        return old, changes

    def _move(self, table: str, how: str) -> None:
        rows = self.state[table]
        if how in ("shrink", "mix"):
            rows[:] = [r for r in rows if self.random.random() < 0.7]
        if how in ("update", "mix"):
            rows[:] = [self._touched(table, r) if self.random.random() < 0.3 else r for r in rows]
        if how in ("grow", "mix"):
            for _ in range(self.random.randint(1, 5)):
                self._add(table)

    def _add(self, table: str) -> None:
        key = KEYS.get(table, 0)
        row = self._row(table)
        if key and any(r[:key] == row[:key] for r in self.state[table]):
            return
        self.state[table].append(row)

    def _row(self, table: str) -> Row:
        pick, number = self.random.choice, self.random.randint
        match table:
            case "region":
                return (number(1, 6), pick(("x", "y", None)))
            case "cust":
                return (number(1, 12), self._parent("region"), self._parent("cust"), number(0, 2))
            case "ord":
                return (number(1, 9), number(1, 2), self._parent("cust"), number(0, 2))
            case _:
                found = self.state["ord"]
                no, part = pick(found)[:2] if found else (None, 1)
                return (None if self.random.random() < 0.1 else no, part, number(0, 2))

    def _parent(self, table: str) -> object:
        found = self.state[table]
        if self.random.random() < self.orphans:
            return self.random.randint(1, 9)
        return self.random.choice(found)[0] if found and self.random.random() < 0.85 else None

    def _touched(self, table: str, row: Row) -> Row:
        """Any column may change; a key seldom does, and then to one that is free."""
        fresh = self._row(table)
        key = KEYS.get(table, 0)
        free = not any(r[:key] == fresh[:key] for r in self.state[table])
        kept = fresh[:key] if free and self.random.random() < 0.3 else row[:key]
        return (*kept, *fresh[key:])

    def _repair(self) -> None:
        """Unique keys; then children of rows that are gone go too, or are set free."""
        for table, key in KEYS.items():
            self.state[table] = list({r[:key]: r for r in self.state[table]}.values())
        if self.random.random() < self.orphans:
            return
        regions = {r[0] for r in self.state["region"]}
        self.state["cust"] = [r for r in self.state["cust"] if r[1] is None or r[1] in regions]
        known = {r[0] for r in self.state["cust"]}
        self.state["cust"] = [(a, b, c if c in known else None, d) for a, b, c, d in self.state["cust"]]
        self.state["ord"] = [r for r in self.state["ord"] if r[2] is None or r[2] in known]
        orders = {r[:2] for r in self.state["ord"]}
        self.state["line"] = [r for r in self.state["line"] if r[0] is None or r[:2] in orders]


def _difference(old: list[Row], new: list[Row]) -> list[Row]:
    came, went = Counter(new) - Counter(old), Counter(old) - Counter(new)
    return [*((*r, 1) for r in came.elements()), *((*r, -1) for r in went.elements())]


def facts(changes: Mapping[str, list[Row]], references: tuple[Reference, ...] = REFERENCES) -> Declared:
    """What a refresh would know."""
    signs = {table: {row[-1] for row in change} for table, change in changes.items()}
    return Declared(
        references,
        unchanged=frozenset(t for t, s in signs.items() if not s),
        gained=frozenset(t for t, s in signs.items() if s == {1}),
        lost=frozenset(t for t, s in signs.items() if s == {-1}),
        split=frozenset(t for t, s in signs.items() if len(s) == 2 and t in KEYS),
    )


class KeyedWorld:
    """A shop in DuckDB, as it was before and is after its last step."""

    def __init__(self, shop: Shop) -> None:
        self.shop, self.duck = shop, judge()
        self.changes: Mapping[str, list[Row]] = {}
        self.uses: Counter[str] = Counter()
        """What declared keys were good for, and how often."""
        self._known: dict[tuple[object, ...], tuple[str, tuple[Use, ...]]] = {}

    def advance(self) -> None:
        old, self.changes = self.shop.step()
        statements = []
        for table, columns in SCHEMAS.items():
            statements.append(_filled(f"{table}_before", columns, old[table]))
            statements.append(_filled(f"{table}_after", columns, self.shop.state[table]))
            statements.append(_filled(f"{table}_changes", (*columns, (WEIGHT, "INT")), self.changes[table]))
        self.duck.execute(";".join([*statements, *(s for table in KEYS for s in _parts(table))]))

    def check(self, query: Query, declared: Declared) -> bool:
        """Whether before + delta == after."""
        declared = _about(declared, query)
        delta = self._sql(("delta", query, declared), lambda: _delta(query, declared))
        old = self._sql(("before", query), lambda: (before(query.plan), ()))
        new = self._sql(("after", query), lambda: (query.plan, ()))
        return self._sum(old, delta) == Counter(self._rows(new))

    def check_stored(self, query: Query, declared: Declared) -> bool:
        """The same of what a stream table stores, hidden columns and all."""
        declared = _about(declared, query)
        storage = store(query.plan, tuple(f"c{n}" for n in range(len(query.labels))))
        old = self._sql(("stored", query), lambda: (before(initial(storage)), ()), storage.stored_labels)
        new = self._sql(("stored next", query), lambda: (initial(storage), ()))
        delta = self._sql(("maintain", query, declared), lambda: _maintained(storage, declared))
        self.duck.execute(f'CREATE OR REPLACE TABLE "{STORED}" AS {old}')
        return self._sum(f'FROM "{STORED}"', delta) == Counter(self._rows(new))

    def _sum(self, old: str, delta: str) -> dict[Row, int]:
        total = Counter(self._rows(old))
        for *row, weight in self._rows(delta):
            total[tuple(row)] += weight
        return {row: n for row, n in total.items() if n}

    def _rows(self, sql: str) -> list[Any]:
        found: list[Any] = self.duck.execute(sql).fetchall()
        return found

    def _sql(self, key: tuple[object, ...], make: Made, labels: tuple[str, ...] = ()) -> str:
        key = tuple(id(k) if isinstance(k, Query) else k for k in key)
        if key not in self._known:
            plan, uses = make()
            tree = sqlglot.parse_one(render(plan, _relation, labels or plan.names), dialect="spark")
            self._known[key] = for_duckdb(tree), uses
        sql, uses = self._known[key]
        self.uses.update(use.effect for use in uses)
        return sql


def _filled(table: str, columns: Sequence[tuple[str, str]], rows: list[Row]) -> str:
    types = {"STRING": "VARCHAR", "INT": "INT"}
    nothing = ", ".join(f"NULL::{types[type]} AS {name}" for name, type in columns)
    values = ", ".join(f"({', '.join(map(_literal, row))})" for row in rows)
    more = f" UNION ALL FROM (VALUES {values})" if rows else ""
    return f"CREATE OR REPLACE TABLE {table} AS SELECT {nothing} WHERE FALSE{more}"


def _literal(value: object) -> str:
    return "NULL" if value is None else repr(value)


def _parts(table: str) -> Iterator[str]:
    """The net change in the parts that a refresh would hand in."""
    names = [n for n, _ in SCHEMAS[table]]
    listed, key = ", ".join(names), ", ".join(names[: KEYS[table]])
    total = f"SELECT {listed}, sum({WEIGHT})::INT AS {WEIGHT} FROM {table}_changes GROUP BY {listed}"
    net = f"SELECT * FROM ({total}) WHERE {WEIGHT} <> 0"
    ends = f"min({WEIGHT}) OVER (PARTITION BY {key}) AS low, max({WEIGHT}) OVER (PARTITION BY {key}) AS high"
    for name, rows in ((updated(table), "low < 0 AND high > 0"), (gone(table), "high < 0")):
        made = f"SELECT {listed}, {WEIGHT} FROM (SELECT *, {ends} FROM ({net})) WHERE {rows}"
        yield f'CREATE OR REPLACE TABLE "{name}_changes" AS {made}'


def _about(declared: Declared, query: Query) -> Declared:
    """What is declared of the tables that the query reads."""
    kept = {name: getattr(declared, name) & query.tables for name in ("unchanged", "gained", "lost", "split")}
    return replace(declared, **kept)


def _delta(query: Query, declared: Declared) -> tuple[Node, tuple[Use, ...]]:
    plan, uses = rely(differentiate(arrange(query.plan, declared), declared.unchanged), declared)
    return in_order(consolidate(plan), [*query.plan.names, WEIGHT]), uses


def _maintained(storage: Storage, declared: Declared) -> tuple[Node, tuple[Use, ...]]:
    plan, uses = rely(maintain(arranged(storage, declared), declared.unchanged), declared)
    return in_order(plan, [*(c.name for c in storage.columns), WEIGHT]), uses


def _relation(table: str, version: Version) -> str:
    return quote(STORED) if table == STORED else quote(f"{table}_{version.value}")


def lowered(text: str) -> Query:
    return lower(text, SCHEMAS)
