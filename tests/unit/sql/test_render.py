"""Plans become Spark SQL, always the same text."""

from __future__ import annotations

import sqlglot

from trickle.delta import consolidate, differentiate
from trickle.plan import Version
from trickle.sql.lower import lower
from trickle.sql.render import render

SCHEMAS = {t: [("k", "INT"), ("odd `name`", "INT"), ("s", "STRING")] for t in ("a", "b")}


def relation(table: str, version: Version) -> str:
    return f"{table}_{version.value}"


def test_the_text_is_stable() -> None:
    def text() -> str:
        plan = lower("SELECT a.k, b.s FROM a LEFT JOIN b ON a.k = b.k", SCHEMAS).plan
        return render(consolidate(differentiate(plan)), relation)

    assert text() == text()


def test_output_columns_carry_the_labels() -> None:
    query = lower("SELECT k AS `a ``b``, c` FROM a", SCHEMAS)
    assert sqlglot.parse_one(render(query.plan, relation, query.labels), dialect="spark").named_selects == ["a `b`, c"]


def test_a_part_read_twice_is_written_once() -> None:
    query = lower("WITH x AS (SELECT k FROM a WHERE k > 0) SELECT p.k FROM x p JOIN x q ON p.k = q.k", SCHEMAS)
    text = render(query.plan, relation)
    assert text.startswith("WITH t1 AS (")
    assert text.count("a_after") == 1


def test_changes_are_broadcast_on_request() -> None:
    plan = differentiate(lower("SELECT a.k FROM a JOIN b ON a.k = b.k", SCHEMAS).plan)
    assert render(plan, relation, broadcast=True).count("BROADCAST") == 2
    assert "BROADCAST" not in render(plan, relation)


def test_joins_are_by_hashes_on_request_where_keys_are_equal() -> None:
    for query, hints in (
        ("SELECT a.k FROM a JOIN b ON a.k = b.k", 1),
        ("SELECT a.k FROM a FULL JOIN b ON a.k <=> b.k AND a.s < b.s", 1),
        ("SELECT k FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k)", 1),
        ("SELECT a.k FROM a JOIN b ON a.k < b.k", 0),
        ("SELECT k FROM a WHERE k NOT IN (SELECT k FROM b)", 0),
    ):
        plan = lower(query, SCHEMAS).plan
        assert render(plan, relation, one_task=True, hashed=True).count("SHUFFLE_HASH") == hints, query
        assert "SHUFFLE_HASH" not in render(plan, relation, one_task=True)


def test_every_version_is_asked_for() -> None:
    asked: set[tuple[str, Version]] = set()

    def note(table: str, version: Version) -> str:
        asked.add((table, version))
        return relation(table, version)

    render(differentiate(lower("SELECT a.k FROM a JOIN b ON a.k = b.k", SCHEMAS).plan), note)
    assert asked == {
        ("a", Version.CHANGES), ("a", Version.BEFORE), ("b", Version.CHANGES), ("b", Version.AFTER),
    }  # fmt: skip


def test_joins_follow_their_conditions_not_their_order() -> None:
    schemas = {t: [(f"{t}1", "INT"), (f"{t}2", "INT")] for t in ("x", "y", "z")}
    plan = lower("SELECT x1 FROM x, y, z WHERE x1 = z1 AND z2 = y1", schemas).plan
    assert "CROSS JOIN" not in render(differentiate(plan), relation)
