"""DuckDB and Trickle agree on every state and on every change, after random work of both on one lake."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from trickle.testing.agreement import duckdb_changes, duckdb_states, errors, trickle_changes, trickle_states
from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.lakes import LakeSite, postgres_site, sqlite_site
from trickle.testing.trial import Trial

OPERATIONS = 500
OPERATIONS_LONG = 5000
OPERATIONS_PER_LAKE = 25
FIRST_SEED = 1000
KEPT_SNAPSHOTS = 4


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def sites(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LakeSite]:
    """As many new places for lakes as wanted."""
    if request.param == "sqlite":
        return (sqlite_site(tmp_path / f"lake{n}") for n in count())
    server = request.getfixturevalue("postgres")
    return (postgres_site(server.database(), tmp_path / f"lake{n}") for n in count())


@pytest.mark.spark
@pytest.mark.timeout(7200)
def test_both_engines_agree_on_every_state_and_every_change(
    sites: Iterator[LakeSite],
    spark: SparkSession,
    peer: DuckDBPeer,
    long: bool,
    record_property: Callable[[str, object], None],
) -> None:
    remaining = OPERATIONS_LONG if long else OPERATIONS
    pairs = duckdb_wrong = 0
    for seed in count(FIRST_SEED):
        with Trial(next(sites), spark, peer, seed) as trial:
            remaining -= trial.run(min(OPERATIONS_PER_LAKE, remaining))
            pairs += check(trial)
            duckdb_wrong += len(errors(duckdb_changes(trial)))
            if seed % 5 == 0:
                trial.expire(KEPT_SNAPSHOTS)
                check(trial)
        if remaining <= 0:
            break
    record_property("pairs of snapshots", pairs)
    record_property("pairs that DuckDB's own change feed gets wrong, against its own states", duckdb_wrong)


def check(trial: Trial) -> int:
    """Every state in both engines and the net change of every pair, against the shadow: state(B) − state(A).

    The shadow, not DuckDB's feed, is the judge of changes: the feed forgets deletes in merged files.
    """
    assert not (wrong := errors(duckdb_states(trial))), trial.story(*wrong[:5])
    assert not (wrong := errors(trickle_states(trial))), trial.story(*wrong[:5])
    findings = list(trickle_changes(trial))
    assert not (wrong := errors(findings)), trial.story(*wrong[:5])
    return len(findings)
