"""The smoke suite on a master with two workers."""

from __future__ import annotations

from pathlib import Path

import pytest

from trickle.testing.clusters import standalone_cluster
from trickle.testing.programs import smoke_through


@pytest.mark.spark
def test_a_cluster_of_two_workers_runs_the_smoke_suite(tmp_path: Path) -> None:
    with standalone_cluster(tmp_path / "cluster", workers=2) as address:
        smoke_through(address, tmp_path / "lake")
