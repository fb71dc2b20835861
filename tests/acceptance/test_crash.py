"""A killed writer loses what it had not committed, and nothing else."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

import trickle
from trickle.testing.crash_writer import KINDS, expected, prepare
from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.effort import Effort
from trickle.testing.lakes import LakeSite
from trickle.testing.programs import Program
from trickle.testing.smoke import rows

KILLS = (2, 8, 50)
"""On each catalog."""
LONGEST_DELAY = 0.6
SEED = 20240229


@pytest.mark.spark
@pytest.mark.timeout(3600)
def test_a_killed_writer_leaves_one_of_the_two_legal_states(
    lake: LakeSite, spark: SparkSession, peer: DuckDBPeer, tmp_path: Path, effort: Effort
) -> None:
    rng = Random(SEED)
    with lake.connect(spark) as db:
        prepare(db)
        done = 0
        for kill in range(effort.of(*KILLS)):
            program = Program("trickle.testing.crash_writer", lake, tmp_path / "writer.log", first=done)
            begun = killed_at_random(program, rng)
            done = check_state(db, lake, peer, begun, f"seed {SEED}, kill {kill}")
            check_files(db, lake, peer)
            assert state(db) == expected(done), "collecting orphans changed the lake"


def killed_at_random(program: Program, rng: Random) -> int:
    """Let it begin a few transactions, kill it at any moment of the next; the number of the one in flight."""
    patience = rng.randint(1, KINDS)
    begun = -1
    for line in program.lines():
        begun = line.get("begin", begun)
        patience -= "begin" in line
        if patience == 0:
            time.sleep(rng.uniform(0, LONGEST_DELAY))
            break
    program.kill()
    assert begun >= 0, "the writer ended before its first transaction"
    return max([begun, *(line["begin"] for line in program.lines() if "begin" in line)])


def check_state(db: trickle.Session, lake: LakeSite, peer: DuckDBPeer, begun: int, label: str) -> int:
    """The lake is as before or as after the transaction in flight, for both engines; how many are done."""
    found = state(db)
    legal = [n for n in (begun, begun + 1) if expected(n) == found]
    assert legal, f"{label}: {found} is neither state around transaction {begun}"
    assert duckdb_state(peer, lake) == found, label
    return legal[-1]


def state(db: trickle.Session) -> tuple[Counter[Any], Counter[Any]]:
    return rows(db.table("ledger")), rows(db.table("account"))


def duckdb_state(peer: DuckDBPeer, lake: LakeSite) -> tuple[Counter[Any], Counter[Any]]:
    return peer.rows(lake.address, "FROM ledger").counts, peer.rows(lake.address, "FROM account").counts


def check_files(db: trickle.Session, lake: LakeSite, peer: DuckDBPeer) -> None:
    """After collection the files on disk are those that the catalog names."""
    db.clean_files(grace_seconds=0)
    db.collect_orphans(grace_seconds=0)
    query = (
        "SELECT path FROM __ducklake_metadata_lake.{s}.ducklake_data_file "
        "UNION ALL SELECT path FROM __ducklake_metadata_lake.{s}.ducklake_delete_file"
    ).format(s=lake.address.schema or "main")
    named = {Path(row[0]).name for row in peer.rows(lake.address, query).counts}
    assert {path.name for path in lake.files()} == named
