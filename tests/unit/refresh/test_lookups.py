"""Which states a change looks up by key, and what its keys say about files."""

from __future__ import annotations

import pyarrow as pa
import pytest

from trickle.delta import differentiate
from trickle.lake.model import Bound, Column, Table
from trickle.plan import KEYS, Field, Scan, SemiJoin, Version, col, same, walk
from trickle.plan import Column as PlanColumn
from trickle.refresh.lookups import Key, Lookup, bounds, condition, key_bound
from trickle.refresh.seeking import looked_up
from trickle.sql.lower import lower

SCHEMAS = {
    "orders": [("id", "INT"), ("cust", "INT"), ("amount", "INT")],
    "customers": [("id", "INT"), ("region", "STRING")],
    "regions": [("code", "STRING"), ("name", "STRING")],
}


def lookups(query: str, unchanged: frozenset[str] = frozenset()) -> list[tuple[str, str, tuple[Key, ...]]]:
    _, found = looked_up(differentiate(lower(query, SCHEMAS).plan, unchanged))
    return sorted(((f.table, f.version.value, f.keys) for f in found.values()), key=repr)


def by_change(column: str, table: str, key: str) -> Key:
    return Key(column, (((table, Version.CHANGES), key),))


def test_each_side_of_a_join_is_looked_up_by_the_change_of_the_other() -> None:
    found = lookups("SELECT o.id, c.region FROM orders o JOIN customers c ON o.cust = c.id")
    assert found == [
        ("customers", "after", (by_change("id", "orders", "cust"),)),
        ("orders", "before", (by_change("cust", "customers", "id"),)),
    ]


def test_what_was_looked_up_tells_what_to_look_up_next() -> None:
    query = "SELECT o.id, r.name FROM orders o JOIN customers c ON o.cust = c.id JOIN regions r ON c.region = r.code"
    _, found = looked_up(differentiate(lower(query, SCHEMAS).plan, frozenset({"customers", "regions"})))
    (customers, first), (_, second) = found.items()
    assert (first.table, first.keys) == ("customers", (by_change("id", "orders", "cust"),))
    assert (second.table, second.keys) == ("regions", (Key("code", (((customers, Version.AFTER), "region"),)),))


def test_terms_that_share_a_state_look_it_up_by_the_keys_of_them_all() -> None:
    query = "SELECT o.id, r.name FROM orders o JOIN customers c ON o.cust = c.id JOIN regions r ON c.region = r.code"
    _, found = looked_up(differentiate(lower(query, SCHEMAS).plan, frozenset({"regions"})))
    (regions,) = (f for f in found.values() if f.table == "regions")
    (key,) = regions.keys
    assert {column for _, column in key.among} == {"region"}
    assert len(key.among) == 2


def test_the_right_side_of_an_anti_join_is_looked_up_by_the_left() -> None:
    changes = Scan("orders", (Field(PlanColumn("a", "INT"), "cust"),), Version.CHANGES)
    state = Scan("customers", (Field(PlanColumn("c", "INT"), "id"),))
    _, found = looked_up(SemiJoin(changes, state, same(col("a"), col("c")), anti=True))
    assert [f.keys[0].column for f in found.values()] == ["id"]


def test_both_states_of_a_table_are_looked_up_each_for_itself() -> None:
    query = "SELECT id, rank() OVER (PARTITION BY cust ORDER BY id) AS place FROM orders"
    plan, found = looked_up(differentiate(lower(query, SCHEMAS).plan))
    assert {f.version for f in found.values() if f.table == "orders"} == {Version.BEFORE, Version.AFTER}
    scanned = {(n.table, n.version) for n in walk(plan) if isinstance(n, Scan) and n.table in found}
    assert scanned == {(name, lookup.version) for name, lookup in found.items()}


def test_an_outer_join_looks_up_its_right_side_as_it_is_now() -> None:
    query = "SELECT o.id, c.region FROM orders o LEFT JOIN customers c ON o.cust = c.id"
    _, found = looked_up(differentiate(lower(query, SCHEMAS).plan))
    assert {(f.table, f.version) for f in found.values()} == {
        ("orders", Version.BEFORE),
        ("customers", Version.AFTER),
    }


def test_a_side_that_did_not_change_looks_nothing_up() -> None:
    found = lookups("SELECT o.id, c.region FROM orders o JOIN customers c ON o.cust = c.id", frozenset({"customers"}))
    assert [f[:2] for f in found] == [("customers", "after")]


def test_renamed_and_filtered_columns_are_followed_to_their_tables() -> None:
    query = """SELECT x.id FROM (SELECT id, cust AS who FROM orders WHERE amount > 3) x
               JOIN (SELECT id AS n, upper(region) AS r FROM customers) y ON x.who = y.n"""
    assert {(f[0], f[2][0].column) for f in lookups(query)} == {("customers", "id"), ("orders", "cust")}


@pytest.mark.parametrize(
    "condition", ["o.cust < c.id", "o.cust + 1 = c.id + 1", "coalesce(o.cust, 0) = length(c.region)"]
)
def test_no_equality_of_columns_no_lookup(condition: str) -> None:
    assert lookups(f"SELECT o.id FROM orders o JOIN customers c ON {condition}") == []


def test_what_an_anti_join_keeps_is_not_what_its_keys_find() -> None:
    scan = Scan("orders", (Field(PlanColumn("a", "INT"), "cust"),))
    keys = Scan(KEYS, (Field(PlanColumn("k", "INT"), "k"),))
    for anti, number in ((False, 1), (True, 0)):
        plan, found = looked_up(SemiJoin(scan, keys, same(col("a"), col("k")), anti))
        assert len(found) == number
        assert {n.table for n in walk(plan) if isinstance(n, Scan)} == {KEYS, *(found or {"orders"})}
        assert all(key.null_safe for lookup in found.values() for key in lookup.keys)


@pytest.mark.parametrize(
    ("type", "keys", "expected"),
    [
        ("int32", pa.array([3, 1, 3, None], pa.int64()), Bound("k", values=(1, 3))),
        ("varchar", pa.array(["b", "a"]), Bound("k", values=("a", "b"))),
        ("varchar", pa.array([1], pa.int32()), None),
        ("float64", pa.array([1.5]), None),
        ("int64", pa.array(range(250_000)), Bound("k", low=0, high=249_999, spans=((0, 249_999),))),
        ("date", pa.array([0, 2**31 - 1], pa.int32()).cast(pa.date32()), None),
        ("date", pa.array([*range(250_000), 2**31 - 1], pa.int32()).cast(pa.date32()), None),
        ("timestamp", pa.array([0, 2**63 - 1], pa.int64()).cast(pa.timestamp("us")), None),
        ("varchar", pa.array([b"a", b"\xff"]).view(pa.string()), None),
    ],
)
def test_the_keys_of_a_change_bound_a_column_of_the_same_kind(type: str, keys: pa.Array, expected: object) -> None:
    assert key_bound(Column(1, "k", type), pa.chunked_array([keys]), null_safe=False) == expected


def test_a_null_key_finds_nulls_only_where_the_condition_says_so() -> None:
    keys = pa.chunked_array([pa.array([1, None], pa.int32())])
    column = Column(1, "k", "int32")
    assert key_bound(column, keys, null_safe=True) == Bound("k", values=(1,), or_null=True)
    assert condition([key_bound(column, keys, null_safe=True)]) == "(`k` IN (1) OR `k` IS NULL)"  # type: ignore[list-item]
    assert condition([Bound("k", values=())]) is None


def test_what_a_condition_lists_is_sorted_as_row_groups_are_searched_by_it() -> None:
    columns = (Column(1, "k", "int32"), Column(2, "s", "varchar"), Column(3, "f", "float64"))
    table = Table(1, "", 0, "main", "t", "", columns)
    asked = Lookup("t", Version.AFTER, (), "`k` IN (49, 3, 14) AND `s` IN ('b', 'a') AND `f` > 1.5")
    found = {b.column: b.values for b in bounds(asked, table, lambda read: None)}
    assert found == {"k": (3, 14, 49), "s": ("a", "b")}
