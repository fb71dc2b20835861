"""Every construct of the SQL reference on Spark, in the modes that it names: exact before and after changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from trickle.testing import matrix
from trickle.testing.lakes import LakeSite

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "sql.md"
PARTS = 6


@pytest.mark.spark
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", range(PARTS))
def test_the_support_matrix_says_what_is_so(part: int, lake_sqlite: LakeSite, quick: SparkSession) -> None:
    lines = matrix.read(PAGE.read_text(encoding="utf-8"))[part::PARTS]
    with lake_sqlite.connect(quick) as db:
        assert list(matrix.prove(db, lines)) == lines
