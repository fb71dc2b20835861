"""Four writers at once: no row is lost, none is doubled, and whoever must give way is told."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.effort import Effort
from trickle.testing.lakes import LakeSite
from trickle.testing.programs import Program
from trickle.testing.racing_writer import prepare
from trickle.testing.smoke import rows

WRITERS = 4
STATEMENTS = {"append_shared", "append_own", "increment_shared", "increment_own"}
SECONDS = (20, 20, 60)


@pytest.mark.spark
@pytest.mark.timeout(900)
def test_four_writers_lose_and_double_nothing(
    lake: LakeSite,
    spark: SparkSession,
    peer: DuckDBPeer,
    tmp_path: Path,
    effort: Effort,
    record_property: Callable[[str, object], None],
) -> None:
    with lake.connect(spark) as db:
        prepare(db, WRITERS)
        said = race(lake, tmp_path, effort.of(*SECONDS))
        for table, expected in outcome(said).items():
            assert rows(db.table(table)) == expected, table
            assert peer.rows(lake.address, f"FROM {table}").counts == expected, table
    for words in said:
        assert succeeded(words) >= STATEMENTS, "single statements are retried, so every writer gets through"
    assert set.union(*(succeeded(words) for words in said)) > STATEMENTS, "of rival transactions one wins"
    record_property("commits", sum("conflict" not in word for words in said for word in words))
    record_property("conflicts reported", sum("conflict" in word for words in said for word in words))


def race(lake: LakeSite, directory: Path, seconds: int) -> list[list[Any]]:
    """Start all writers, let them go at once, and return what each said it did."""
    module = "trickle.testing.racing_writer"
    programs = [
        Program(module, lake, directory / f"writer{number}.log", number=number, seconds=seconds)
        for number in range(WRITERS)
    ]
    for program in programs:
        assert program.hear() == {"ready": True}
    for program in programs:
        program.tell("go")
    return [program.finish() for program in programs]


def succeeded(words: list[Any]) -> set[str]:
    return {word["action"] for word in words if "conflict" not in word}


def outcome(said: list[list[Any]]) -> dict[str, Counter[tuple[int, ...]]]:
    """What every table must hold after what the writers say they committed."""
    tables: dict[str, Counter[tuple[int, ...]]] = defaultdict(Counter)
    increments: Counter[int] = Counter()
    for word in (word for words in said for word in words if "conflict" not in word):
        for table, ids in word["appended"].items():
            tables[table].update((id,) for id in ids)
        increments.update(word["counters"])
    return tables | {"counter": Counter((key, increments[key]) for key in range(WRITERS + 1))}
