"""Every operator says what is done for it, and why."""

from __future__ import annotations

from trickle.delta import RULES, store, strategies
from trickle.delta.explain import _STRATEGIES
from trickle.sql.lower import lower

SCHEMAS = {t: [("k", "INT"), ("v", "INT")] for t in ("a", "b")}


def explained(query: str) -> dict[str, str]:
    lowered = lower(query, SCHEMAS)
    storage = store(lowered.plan, lowered.labels)
    return {s.operator: s.strategy for s in strategies(lowered.plan, storage)}


def test_every_rule_is_explained() -> None:
    assert _STRATEGIES.keys() == RULES.keys()


def test_the_stored_aggregate_is_merged_the_one_below_rescanned() -> None:
    query = "SELECT n, count(*) AS c FROM (SELECT k, count(*) AS n FROM a GROUP BY k) GROUP BY n"
    lowered = lower(query, SCHEMAS)
    found = strategies(lowered.plan, store(lowered.plan, lowered.labels))
    assert [s.strategy for s in found if s.operator == "Aggregate"] == ["algebraic", "rescan"]


def test_a_stored_distinct_is_merged() -> None:
    assert explained("SELECT DISTINCT k FROM a")["Distinct"] == "algebraic"


def test_what_has_no_partition_is_recomputed() -> None:
    assert explained("SELECT k, rank() OVER (ORDER BY v) AS r FROM a")["Window"] == "recompute"
    assert explained("SELECT a.k, m.x FROM a CROSS JOIN (SELECT max(v) AS x FROM b) m")["Aggregate"] == "recompute"


def test_tables_are_named() -> None:
    lowered = lower("SELECT a.k FROM a JOIN b ON a.k = b.k", SCHEMAS)
    assert strategies(lowered.plan)[0].tables == ("a", "b")
