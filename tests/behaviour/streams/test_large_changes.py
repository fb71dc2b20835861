"""Changes too large for the driver: Spark finds the rows that go, and reads of the stored ones what it has to."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from pyspark.sql import SparkSession

from trickle.lake.model import Bound
from trickle.refresh import large, lookups
from trickle.testing.lakes import LakeSite
from trickle.testing.streams.stage import Stage

pytestmark = pytest.mark.spark

QUERY = "SELECT k, day, note FROM t"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """What Spark's reader was told."""
    told: list[str | None] = []

    def condition(bounds: Sequence[Bound]) -> str | None:
        told.append(lookups.condition(bounds))
        return told[-1]

    monkeypatch.setattr(large, "condition", condition)
    return told


@pytest.mark.parametrize(("sent", "named"), [(0, 100_000), (1_000_000, 0)], ids=["shuffled", "sent"])
def test_rows_that_go_are_found_in_spans_of_their_numbers_and_days(
    lake: LakeSite, quick: SparkSession, asked: list[str | None], monkeypatch: pytest.MonkeyPatch, sent: int, named: int
) -> None:
    monkeypatch.setattr(large, "MOST_SENT", sent)
    monkeypatch.setattr(lookups, "MOST_KEYS", named)
    monkeypatch.setattr(lookups, "MOST_LISTED", 2)
    row = "CAST(id AS INT) AS k, date_add(DATE'2026-01-01', CAST(id DIV 10 AS INT)) AS day, concat('n', id) AS note"
    with lake.connect(quick, refresh__small_result_rows=0, lake__driver_read_mb=0) as db:
        stage = Stage(db)
        stage.change(f"CREATE TABLE t AS SELECT {row}, 1 AS copy FROM range(1000)")
        stage.change(f"INSERT INTO t SELECT {row}, 2 FROM range(490, 510)", "INSERT INTO t VALUES (NULL, NULL, 'x', 1)")
        stage.stream("same", QUERY)
        for statements, gone in (
            (("DELETE FROM t WHERE k < 5 OR (k BETWEEN 500 AND 505 AND copy = 2) OR k > 997",), 5 + 6 + 2),
            (("UPDATE t SET note = 'z' WHERE k IN (7, 90, 800)", "DELETE FROM t WHERE k IS NULL"), 3 + 1),
            (("DELETE FROM t WHERE k BETWEEN 490 AND 499",), 20),
            (("INSERT INTO t VALUES (7, NULL, NULL, 1), (7, NULL, NULL, 2)",), 0),
            (("DELETE FROM t WHERE day IS NULL",), 2),
        ):
            stage.change(*statements)
            asked.clear()
            assert stage.refresh("same").rows_deleted == gone
            assert len(asked) == bool(gone)
            stage.agrees("same", QUERY)
            if gone == 13:
                assert asked[0] is not None and asked[0].count("BETWEEN") > 2
