"""The spec files of this folder, executed for real.

A file holds cases; a case is a comment with its name, then statements:

    -- a row without partner is padded
    CREATE TABLE l (k INT, v STRING);
    INSERT INTO l VALUES (1, 'a');
    QUERY SELECT …;
    CHANGE INSERT INTO r VALUES (…);
    CHANGE DELETE FROM l WHERE k = 1;
    EXPECT VALUES (-1, 1, 'a', NULL), (+1, …);

EXPECT lists the net change, the weight first; `EXPECT NOTHING` says that nothing changes. Keys that DuckDB enforces are
relied upon as well, in a second run; `UNREAD` lists the states that it must not read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pytest

from trickle.delta import consolidate, differentiate
from trickle.delta.declared import Declared, Reference, arrange, gone, rely, updated
from trickle.plan import WEIGHT, Node, Scan, Version, walk
from trickle.sql.lower import Query, lower
from trickle.sql.render import render
from trickle.testing.specs import schemas_of, translated

HERE = Path(__file__).parent


@dataclass
class Case:
    """One case of a spec file."""

    name: str
    setup: list[str] = field(default_factory=list)
    query: str = ""
    changes: list[str] = field(default_factory=list)
    unread: tuple[str, ...] = ()
    expected: str = ""


def read_cases(path: Path) -> list[Case]:
    cases: list[Case] = []
    for block in re.split(r"^-- ", path.read_text(), flags=re.MULTILINE)[1:]:
        name, _, body = block.partition("\n")
        cases.append(_case(name.strip(), body))
    return cases


def _case(name: str, body: str) -> Case:
    case = Case(name)
    for statement in (s.strip() for s in body.split(";")):
        word, _, rest = statement.partition(" ")
        if word == "QUERY":
            case.query = rest
        elif word == "CHANGE":
            case.changes.append(rest)
        elif word == "UNREAD":
            case.unread = tuple(rest.split())
        elif word == "EXPECT":
            case.expected = rest
        elif statement:
            case.setup.append(statement)
    return case


CASES = [(path, case) for path in sorted(HERE.glob("*.sql")) for case in read_cases(path)]


@pytest.mark.parametrize(("path", "case"), CASES, ids=[f"{p.stem}: {c.name}" for p, c in CASES])
def test_the_change_is_as_expected(path: Path, case: Case) -> None:
    connection = duckdb.connect()
    for statement in case.setup:
        connection.execute(statement)
    schemas = schemas_of(connection)
    for table in schemas:
        connection.execute(f"CREATE TABLE {table}_before AS FROM {table}")
    for statement in case.changes:
        connection.execute(statement)
    for table in schemas:
        connection.execute(_feed(table))
    query = lower(case.query, schemas)
    assert _answer(connection, query, differentiate(query.plan)) == _expected(connection, case)
    known = _declared(connection, schemas)
    if known:
        plan, uses = rely(differentiate(arrange(query.plan, known), known.unchanged), known)
        assert _answer(connection, query, plan) == _expected(connection, case)
        read = {f"{n.table}_{n.version.value}" for n in walk(plan) if isinstance(n, Scan)}
        assert not read & set(case.unread)
        assert bool(uses) or not case.unread


def _answer(connection: Any, query: Query, plan: Node) -> Counter[tuple[object, ...]]:
    names = ", ".join(f'"{name}"' for name in (WEIGHT, *query.plan.names))
    sql = translated(render(consolidate(plan), _relation))
    return Counter(connection.execute(f"SELECT {names} FROM ({sql})").fetchall())


def _declared(connection: Any, schemas: Mapping[str, object]) -> Declared:
    """The foreign keys, and how the tables changed; the changes of referenced ones in parts."""
    found = connection.execute(
        "SELECT constraint_name, table_name, constraint_column_names, referenced_table, referenced_column_names "
        "FROM duckdb_constraints() WHERE constraint_type = 'FOREIGN KEY'"
    ).fetchall()
    references = tuple(Reference(n, t, tuple(c), p, tuple(k)) for n, t, c, p, k in found if not t.endswith("_before"))
    for reference in references:
        _parts(connection, reference)
    asked = "SELECT DISTINCT sign({0}) FROM {1}_changes"
    signs = {t: {s for (s,) in connection.execute(asked.format(WEIGHT, t)).fetchall()} for t in schemas}
    kinds = [frozenset(t for t, s in signs.items() if s == kind) for kind in (set(), {1}, {-1}, {1, -1})]
    return Declared(references, *kinds)


def _parts(connection: Any, reference: Reference) -> None:
    key = ", ".join(reference.key)
    sides = [f"(SELECT {key} FROM {reference.parent}_changes WHERE {WEIGHT} {sign} 0)" for sign in (">", "<")]
    for name, both in ((updated(reference.parent), ""), (gone(reference.parent), "NOT ")):
        rows = f"SELECT * FROM {reference.parent}_changes WHERE ({key}) {both}IN {sides[0]} AND ({key}) IN {sides[1]}"
        connection.execute(f'CREATE OR REPLACE TABLE "{name}_changes" AS {rows}')


def test_every_rule_has_a_spec() -> None:
    assert {path.stem for path, _ in CASES} >= {
        "aggregate", "declared_key", "distinct", "filter", "generate", "grouping_sets", "join", "outer_join",
        "semi_join", "set_op", "subquery", "top_k", "union", "window",
    }  # fmt: skip


def _feed(table: str) -> str:
    """The net change as DuckDB itself computes it, one row per copy."""
    came = f"SELECT *, 1 AS {WEIGHT} FROM (FROM {table} EXCEPT ALL FROM {table}_before)"
    went = f"SELECT *, -1 AS {WEIGHT} FROM (FROM {table}_before EXCEPT ALL FROM {table})"
    return f"CREATE TABLE {table}_changes AS {came} UNION ALL {went}"


def _relation(table: str, version: Version) -> str:
    return table if version is Version.AFTER else f"`{table}_{version.value}`"


def _expected(connection: Any, case: Case) -> Counter[tuple[object, ...]]:
    if case.expected == "NOTHING":
        return Counter()
    return Counter(connection.execute(f"FROM ({case.expected})").fetchall())
