"""A random history of small tables: states, and the changes between them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random

from trickle.plan import Version

Row = tuple[object, ...]
Rows = list[Row]
Change = list[tuple[Row, int]]

COLUMNS: tuple[tuple[str, str], ...] = (("k", "INT"), ("v", "INT"), ("s", "STRING"))
TABLES = ("a", "b", "c")
SCHEMAS = dict.fromkeys(TABLES, COLUMNS)


@dataclass(frozen=True)
class Step:
    """One step of time: each table before, what changed, and after."""

    before: dict[str, Rows]
    changes: dict[str, Change]
    after: dict[str, Rows]

    def rows(self, table: str, version: Version) -> Rows:
        """The rows a scan of this version reads."""
        if version is Version.BEFORE:
            return self.before[table]
        if version is Version.AFTER:
            return self.after[table]
        return [(*row, weight) for row, weight in self.changes[table]]

    @property
    def unchanged(self) -> frozenset[str]:
        return frozenset(t for t, change in self.changes.items() if not change)


def random_row(random: Random) -> Row:
    """A row of few distinct values, many NULLs: keys collide, duplicates are common."""
    k = random.choice((None, 0, 1, 1, 2, 3))
    v = random.choice((None, None, -2, 0, 1, 1, 2, 5))
    s = random.choice((None, "", "x", "x", "y"))
    return (k, v, s)


def random_history(random: Random, steps: int, largest: int = 8) -> list[Step]:
    """A walk of `steps` steps from random tables."""
    state = {t: [random_row(random) for _ in range(random.randint(0, largest))] for t in TABLES}
    walk = []
    for _ in range(steps):
        step = _random_step(random, state)
        walk.append(step)
        state = step.after
    return walk


def growing_history(random: Random, steps: int) -> list[Step]:
    """A walk on which rows only come."""
    state: dict[str, Rows] = {t: _rows(random, random.randint(0, 3)) for t in TABLES}
    walk = []
    for _ in range(steps):
        changes = {t: _inserts(random, random.choice((0, 0, 1, 2))) for t in TABLES}
        walk.append(Step(state, changes, {t: _applied(state[t], changes[t]) for t in TABLES}))
        state = walk[-1].after
    return walk


def _rows(random: Random, count: int) -> Rows:
    return [row for row, _ in _inserts(random, count)]


def _random_step(random: Random, state: dict[str, Rows]) -> Step:
    changes = {table: _random_change(random, rows) for table, rows in state.items()}
    after = {table: _applied(state[table], change) for table, change in changes.items()}
    return Step(state, changes, after)


def _random_change(random: Random, rows: Rows) -> Change:
    """Inserts, deletes, updates (of keys too), all rows gone, or nothing; net and as a feed that cancels itself."""
    kind = random.random()
    if kind < 0.2:
        return []
    if kind < 0.27:
        return [(row, -1) for row in rows] + _inserts(random, random.choice((0, 0, 2)))
    gone = [row for row in rows if random.random() < 0.2]
    updated = [(_touched(random, row), 1) for row in gone if random.random() < 0.5]
    change = [(row, -1) for row in gone] + updated + _inserts(random, random.choice((0, 0, 1, 1, 2)))
    if rows and random.random() < 0.3:
        change.append((random.choice(rows), 1))
    if random.random() < 0.2:
        passing = random_row(random)
        change += [(passing, 1), (passing, -1)]
    random.shuffle(change)
    return change


def _touched(random: Random, row: Row) -> Row:
    fresh = random_row(random)
    return tuple(random.choice((old, old, new)) for old, new in zip(row, fresh, strict=True))


def _inserts(random: Random, count: int) -> Change:
    return [(random_row(random), 1) for _ in range(count)]


def _applied(rows: Rows, change: Change) -> Rows:
    counts = Counter(rows)
    for row, weight in change:
        counts[row] += weight
    if any(n < 0 for n in counts.values()):
        raise ValueError("a change deletes what is not there")
    return list(counts.elements())
