"""The smoke suite through Spark Connect."""

from __future__ import annotations

from pathlib import Path

import pytest

from trickle.testing.clusters import connect_server
from trickle.testing.programs import smoke_through


@pytest.mark.spark
def test_a_connect_session_runs_the_smoke_suite(tmp_path: Path) -> None:
    with connect_server(tmp_path / "server") as address:
        smoke_through(address, tmp_path / "lake")
