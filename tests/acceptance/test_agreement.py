"""DuckDB and Trickle agree on every state and on every change, after random work of both on one lake."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

import pytest
from pyspark.sql import SparkSession

from trickle.testing.agreement import duckdb_changes, duckdb_states, errors, trickle_changes, trickle_states
from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.effort import Effort
from trickle.testing.lakes import LakeSite, postgres_site, sqlite_site
from trickle.testing.trial import Trial

OPERATIONS = (8, 500, 5000)
OPERATIONS_PER_LAKE = (8, 12, 25)
FIRST_SEED = 1000
KEPT_SNAPSHOTS = 4
AT_ONCE = 2


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[int], LakeSite]:
    """A new place for the lake of each seed."""
    if request.param == "sqlite":
        return lambda seed: sqlite_site(tmp_path / f"lake{seed}")
    server = request.getfixturevalue("postgres")
    return lambda seed: postgres_site(server.database(), tmp_path / f"lake{seed}")


@pytest.fixture
def peers() -> Iterator[SimpleQueue[DuckDBPeer]]:
    """A DuckDB for each of those that work at once."""
    started = [DuckDBPeer() for _ in range(AT_ONCE)]
    free: SimpleQueue[DuckDBPeer] = SimpleQueue()
    for peer in started:
        free.put(peer)
    yield free
    for peer in started:
        peer.close()


@pytest.mark.spark
@pytest.mark.timeout(7200)
def test_both_engines_agree_on_every_state_and_every_change(
    site: Callable[[int], LakeSite],
    quick: SparkSession,
    peers: SimpleQueue[DuckDBPeer],
    effort: Effort,
    record_property: Callable[[str, object], None],
) -> None:
    operations, per_lake = effort.of(*OPERATIONS), effort.of(*OPERATIONS_PER_LAKE)
    seeds = range(FIRST_SEED, FIRST_SEED - (-operations // per_lake))

    def work(seed: int) -> tuple[int, int]:
        peer = peers.get()
        try:
            with Trial(site(seed), quick, peer, seed) as trial:
                return worked(trial, per_lake)
        finally:
            peers.put(peer)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        outcomes = list(pool.map(work, seeds))
    record_property("changes between two snapshots compared", sum(pairs for pairs, _ in outcomes))
    record_property("of those, wrong in DuckDB's own feed", sum(wrong for _, wrong in outcomes))


def worked(trial: Trial, operations: int) -> tuple[int, int]:
    """Run and check one lake, once more after expiry with every fifth; changes compared, and DuckDB's errors."""
    trial.run(operations)
    compared = check(trial)
    wrong = len(errors(duckdb_changes(trial)))
    if trial.seed % 5 == 0:
        trial.expire(KEPT_SNAPSHOTS)
        compared += check(trial)
    return compared, wrong


def check(trial: Trial) -> int:
    """Every state in both engines and the net change of every pair, against the shadow: state(B) − state(A).

    The shadow, not DuckDB's feed, is the judge of changes: that feed is at times wrong, and is only counted.
    """
    assert not (wrong := errors(duckdb_states(trial))), trial.story(*wrong[:5])
    assert not (wrong := errors(trickle_states(trial))), trial.story(*wrong[:5])
    findings = list(trickle_changes(trial))
    assert not (wrong := errors(findings)), trial.story(*wrong[:5])
    return len(findings)
