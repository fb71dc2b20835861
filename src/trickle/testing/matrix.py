"""The support matrix of the SQL reference: each example as a stream table in each mode, judged after changes.

`python -m trickle.testing.matrix docs/reference/sql.md` runs them all and writes what it saw into the page.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import sqlglot
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

import trickle
from trickle.errors import NotIncremental, TrickleError
from trickle.testing.oracle.engine import judge

MODES = ("FULL", "DIFFERENTIAL", "IMMEDIATE")
_LINE = re.compile(r"^\| (.*) \| `((?:SELECT|WITH) .*)` \| (.*?)`(\w+)` \|$")
SETUP = (
    "CREATE TABLE orders (id INT, customer INT, amount DECIMAL(10, 2), day DATE, tags ARRAY<STRING>)",
    "CREATE TABLE customers (id INT, name STRING, city STRING)",
    "INSERT INTO orders VALUES (11, 1, 20, DATE'2026-01-01', array('a', 'b')), "
    "(12, 1, 5, DATE'2026-01-02', array('z')), (13, 2, 20, DATE'2026-01-01', NULL), (14, 9, 7, NULL, array('b')), "
    "(15, NULL, 40, DATE'2026-01-03', array('a', NULL)), (2, 11, 3, NULL, array('c'))",
    "INSERT INTO customers VALUES (1, 'Ada', 'Rom'), (2, 'Emmy', NULL), (3, NULL, 'Ulm')",
)
CHANGES = (
    "INSERT INTO orders VALUES (16, 2, 90, DATE'2026-01-02', array('ab')), (17, 3, 11, DATE'2026-01-04', array('z'))",
    "UPDATE orders SET customer = 2, amount = amount + 15 WHERE id = 12",
    "DELETE FROM orders WHERE id = 13",
    "INSERT INTO customers VALUES (9, 'Kurt', 'Ulm')",
    "DELETE FROM customers WHERE id = 2",
)
"""No order leads back to itself through its customer: the recursions of the examples end."""


@dataclass(frozen=True)
class Line:
    """A line of the matrix: an example, and the modes in which it is said to stay exact."""

    construct: str
    query: str
    modes: tuple[str, ...]
    strategy: str

    def __str__(self) -> str:
        said = "".join(f"{'yes' if mode in self.modes else '–'} | " for mode in MODES)
        return f"| {self.construct} | `{self.query}` | {said}`{self.strategy}` |"

    @property
    def is_random(self) -> bool:
        """May the same query answer differently on the same rows?"""
        return any(word in self.query for word in ("rand()", "TABLESAMPLE", "LIMIT 3", "LIMIT 7", "TRANSFORM"))


def read(page: str) -> list[Line]:
    return [line for text in page.splitlines() if (line := _line(text)) is not None]


def _line(text: str) -> Line | None:
    found = _LINE.match(text)
    if found is None:
        return None
    construct, query, said, strategy = found.groups()
    verdicts = [cell.strip() for cell in said.split("|")[:-1]]
    return Line(construct, query, tuple(m for m, v in zip(MODES, verdicts, strict=False) if v == "yes"), strategy)


def rewritten(page: str, proved: Iterable[Line]) -> str:
    """The page with the lines as they were seen."""
    seen = {(line.construct, line.query): line for line in proved}
    lines = ((text, _line(text)) for text in page.splitlines())
    return (
        "\n".join(text if line is None else str(seen.get((line.construct, line.query), line)) for text, line in lines)
        + "\n"
    )


def prove(db: trickle.Session, lines: list[Line], tell: Callable[[str], None] = lambda _: None) -> Iterator[Line]:
    """Each line with the modes in which its query was exact before and after changes."""
    for statement in SETUP:
        db.sql(statement)
    made = [(n, mode) for mode in MODES for n, line in enumerate(lines) if _created(db, line, n, mode)]
    wrong = {(n, mode): _difference(db, lines[n], n, mode) for n, mode in made}
    tell(f"{len(made)} stream tables")
    with db.transaction():
        for statement in CHANGES:
            db.sql(statement)
    for n, mode in made:
        if mode != "IMMEDIATE":
            db.refresh_stream_table(_name(n, mode))
        wrong[n, mode] = wrong[n, mode] or _difference(db, lines[n], n, mode)
    complaints = [f"{mode}: {lines[n].query}: {said}" for (n, mode), said in wrong.items() if said]
    if complaints:
        raise AssertionError("\n".join(complaints))
    for n, line in enumerate(lines):
        yield Line(line.construct, line.query, tuple(m for m in MODES if (n, m) in wrong), line.strategy)


def _name(number: int, mode: str) -> str:
    return f"example_{number}_{mode.lower()}"


def _created(db: trickle.Session, line: Line, number: int, mode: str) -> bool:
    try:
        db.create_stream_table(_name(number, mode), line.query, refresh_mode=mode)
    except NotIncremental:
        return False
    return True


def _difference(db: trickle.Session, line: Line, number: int, mode: str) -> str:
    """What is stored and what the query answers, where they differ."""
    held = Counter(map(repr, db.table(_name(number, mode)).toArrow().to_pylist()))
    if line.is_random:
        return ""
    wanted = _answer(db, line.query)
    return "" if held == wanted else f"{held - wanted} instead of {wanted - held}"


def _answer(db: trickle.Session, query: str) -> Counter[str]:
    """Spark's answer; DuckDB's, of what Spark does not understand, or fails at."""
    try:
        return Counter(map(repr, db.sql(query).toArrow().to_pylist()))
    except (TrickleError, PySparkException, Py4JError, pa.ArrowInvalid):
        duckdb = judge()
        for table in ("orders", "customers"):
            duckdb.register(table, db.table(table).toArrow())
        found = duckdb.execute(sqlglot.transpile(query, read="spark", write="duckdb")[0]).to_arrow_table()
        return Counter(map(repr, found.to_pylist()))


def main(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, trickle.connect(folder) as db:
        proved = list(prove(db, read(text), print))
    page.write_text(rewritten(text, proved), encoding="utf-8")
    print(f"{len(proved)} constructs; differential: {sum('DIFFERENTIAL' in line.modes for line in proved)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
