"""The command line on the lake of a test."""

from __future__ import annotations

import pytest

from trickle.cli.main import app
from trickle.testing.commands import Command
from trickle.testing.lakes import LakeSite


@pytest.fixture
def command(lake_sqlite: LakeSite, capfd: pytest.CaptureFixture[str]) -> Command:
    return Command(app, lake_sqlite.target, capfd.readouterr)
