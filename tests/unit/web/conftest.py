"""A shop of stream tables that have a past, and its pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import trickle
from trickle.testing.past import Past, shop
from trickle.web.server import Server


@pytest.fixture
def db(tmp_path: Path) -> Iterator[trickle.Session]:
    with trickle.connect(tmp_path / "shop", settings={"web.port": 0}) as session:
        yield session


@pytest.fixture
def past(db: trickle.Session) -> Past:
    return shop(db)


@pytest.fixture
def server(db: trickle.Session, past: Past) -> Iterator[Server]:
    with Server(db) as running:
        yield running
