"""Each pass makes plans smaller."""

from __future__ import annotations

from collections import Counter

import pytest

from trickle.delta import differentiate
from trickle.delta.simplify import (
    drop_empty,
    flatten,
    merge_projections,
    outer_to_inner,
    prune_columns,
    push_filters,
    simplify,
)
from trickle.plan import TRUE, Filter, Join, Node, OuterJoin, Project, Scan, SemiJoin, UnionAll, empty, is_empty, walk
from trickle.sql.lower import lower

SCHEMAS = {t: [("k", "INT"), ("v", "INT"), ("s", "STRING")] for t in ("a", "b")}


def plan(query: str) -> Node:
    return lower(query, SCHEMAS).plan


def test_a_join_with_nothing_is_nothing() -> None:
    left, right = plan("SELECT k FROM a"), plan("SELECT v, s FROM b")
    assert is_empty(drop_empty(Join((left, empty(right.columns)), TRUE)))


def test_an_anti_join_with_nothing_keeps_all() -> None:
    left, right = plan("SELECT k FROM a"), plan("SELECT v, s FROM b")
    assert drop_empty(SemiJoin(left, empty(right.columns), TRUE, anti=True)) == left


def test_nested_unions_become_one() -> None:
    union = flatten(plan("SELECT k FROM a UNION ALL SELECT k FROM b"))
    assert isinstance(flatten(UnionAll((union, union))), UnionAll)
    assert len(flatten(UnionAll((union, union))).inputs) == 4


def test_filters_reach_the_scans() -> None:
    pushed = push_filters(plan("SELECT x.k FROM (SELECT k, v + 1 AS w FROM a) x JOIN b ON x.k = b.k WHERE w > 3"))
    (found,) = [n for n in walk(pushed) if isinstance(n, Filter)]
    assert isinstance(found.input, Scan)


def test_a_filter_stays_above_the_padded_side_of_an_outer_join() -> None:
    pushed = push_filters(plan("SELECT a.k FROM a LEFT JOIN b ON a.k = b.k WHERE b.v IS NULL AND a.v > 0"))
    placed = {type(n.input).__name__ for n in walk(pushed) if isinstance(n, Filter)}
    assert placed == {"OuterJoin", "Scan"}


@pytest.mark.parametrize(
    ("condition", "padded"),
    [
        ("b.v > a.v", False),
        ("a.v < 2 * (b.v + 1) AND b.k IN (SELECT k FROM a)", False),
        ("a.v < (SELECT sum(v) FROM b WHERE b.k = a.k)", True),  # the join before it stays as it is
        ("b.v IS NULL", True),
        ("coalesce(b.v, 0) < 1", True),
        ("b.v > 0 OR a.v > 0", True),
        ("a.v > 0", True),
    ],
)
def test_a_filter_that_rejects_null_needs_no_padding(condition: str, padded: bool) -> None:
    found = outer_to_inner(plan(f"SELECT a.k FROM a LEFT JOIN b ON a.k = b.k WHERE {condition}"))
    assert len([n for n in walk(found) if isinstance(n, OuterJoin)]) == padded


def test_projections_of_projections_merge() -> None:
    merged = merge_projections(plan("SELECT k + 1 AS z FROM (SELECT k FROM (SELECT k, v FROM a))"))
    assert len([n for n in walk(merged) if isinstance(n, Project)]) == 1


def test_scans_are_pruned() -> None:
    pruned = prune_columns(plan("SELECT a.k FROM a JOIN b ON a.v = b.v"))
    assert [[f.source for f in n.fields] for n in walk(pruned) if isinstance(n, Scan)] == [["k", "v"], ["v"]]


def test_simplify_keeps_the_columns() -> None:
    query = plan("SELECT DISTINCT a.k, b.s FROM a LEFT JOIN b ON a.k = b.k WHERE a.v > 0")
    assert simplify(query).names == query.names


def test_what_all_terms_of_a_change_join_is_joined_once() -> None:
    query = "SELECT a.k FROM a, b, c, d WHERE a.k = b.k AND b.v = c.v AND c.s = d.s AND d.k > 0"
    schemas = dict.fromkeys("abcd", SCHEMAS["a"])
    change = differentiate(lower(query, schemas).plan, unchanged=frozenset("cd"))
    scans = Counter(n.table for n in walk(change) if isinstance(n, Scan))
    assert scans == {"a": 2, "b": 2, "c": 1, "d": 1}


def test_terms_that_only_the_rest_holds_together_keep_what_links_them() -> None:
    query = "SELECT a.k FROM a, b, c, d WHERE a.k = c.k AND b.v = c.v AND c.s = d.s"
    schemas = dict.fromkeys("abcd", SCHEMAS["a"])
    change = differentiate(lower(query, schemas).plan, unchanged=frozenset("cd"))
    joins = [n for n in walk(change) if isinstance(n, Join)]
    assert all(join.on != TRUE for join in joins)
    assert Counter(n.table for n in walk(change) if isinstance(n, Scan)) == {"a": 2, "b": 2, "c": 2, "d": 1}
