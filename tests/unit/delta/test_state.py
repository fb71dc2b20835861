"""What a stream table stores, and why."""

from __future__ import annotations

import pytest

from trickle.delta.state import Storage, initial, maintain, store
from trickle.plan import STORED, WEIGHT, Scan, Version, tables, walk
from trickle.sql.lower import lower

SCHEMAS = {
    "t": [("k", "INT"), ("v", "INT"), ("x", "DOUBLE"), ("d", "DECIMAL(12,2)"), ("s", "STRING")],
    "u": [("k", "INT"), ("v", "INT")],
}


def storage(query: str, **options: bool) -> Storage:
    lowered = lower(query, SCHEMAS)
    return store(lowered.plan, lowered.labels, **options)


def hidden_names(query: str) -> list[str]:
    return [h.column.name for h in storage(query).hidden]


def test_a_count_needs_only_the_group_count() -> None:
    assert hidden_names("SELECT k, count(v) AS n FROM t GROUP BY k") == ["__trickle_count"]


def test_a_sum_carries_a_count_of_its_values() -> None:
    assert hidden_names("SELECT k, sum(v) AS y FROM t GROUP BY k") == ["__trickle_count", "__trickle_n_1"]


def test_keys_not_shown_are_hidden_columns() -> None:
    found = storage("SELECT count(*) AS n FROM t GROUP BY k, s")
    assert found.key == ("__trickle_key_1", "__trickle_key_2")


def test_having_stores_all_groups_and_marks_the_visible() -> None:
    found = storage("SELECT k, sum(v) AS y FROM t GROUP BY k HAVING sum(v) > 10")
    assert found.visible_label == "__trickle_visible"
    assert storage("SELECT k FROM t GROUP BY k").visible_label is None


def test_an_expression_over_aggregates_hides_the_aggregates() -> None:
    found = storage("SELECT k, sum(v) / count(v) AS mean FROM t GROUP BY k")
    assert found.strategy == "algebraic"
    assert "__trickle_value_1" in [h.column.name for h in found.hidden]


@pytest.mark.parametrize(
    ("call", "strategy"),
    [
        ("count(DISTINCT v)", "rescan"),
        ("median(v)", "rescan"),
        ("stddev(v)", "algebraic"),
        ("stddev(d)", "algebraic"),
        ("stddev(x)", "rescan"),
        ("sum(x)", "algebraic"),
        ("collect_list(v)", "rescan"),
        ("max(s)", "algebraic"),
    ],
)
def test_the_strategy_follows_the_aggregate(call: str, strategy: str) -> None:
    found = storage(f"SELECT k, {call} AS y FROM t GROUP BY k")
    assert found.strategy == strategy
    assert found.reason


def test_floating_point_sums_can_be_rescanned() -> None:
    assert storage("SELECT k, sum(x) AS y FROM t GROUP BY k", float_sums=False).strategy == "rescan"


def test_a_merge_of_sums_reads_no_source_but_its_changes() -> None:
    found = storage("SELECT k, sum(v) AS y, count(*) AS n FROM t GROUP BY k")
    scans = [n for n in walk(maintain(found)) if isinstance(n, Scan)]
    assert {(n.table, n.version) for n in scans} == {("t", Version.CHANGES), (STORED, Version.BEFORE)}


def test_a_query_without_aggregate_is_stored_as_it_is() -> None:
    found = storage("SELECT t.k, u.v FROM t JOIN u ON t.k = u.k")
    assert (found.strategy, found.hidden, found.key) == ("delta", (), None)
    assert tables(maintain(found)) == {"t", "u"}


def test_initial_and_change_have_the_stored_columns() -> None:
    found = storage("SELECT k, avg(v) AS y FROM t GROUP BY k HAVING count(*) > 1")
    names = {c.name for c in found.columns}
    assert set(initial(found).names) == names
    assert set(maintain(found).names) == names | {WEIGHT}
