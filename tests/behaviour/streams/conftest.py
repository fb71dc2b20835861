"""A small shop on every catalog."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

import trickle
from trickle.testing.lakes import LakeSite
from trickle.testing.streams.stage import Stage


@pytest.fixture
def db(lake: LakeSite, quick: SparkSession) -> Iterator[trickle.Session]:
    with lake.connect(quick) as session:
        yield session


@pytest.fixture
def shop(db: trickle.Session) -> Stage:
    stage = Stage(db)
    stage.change(
        "CREATE TABLE orders (id INT, cust INT, amount INT)",
        "CREATE TABLE customers (id INT, region STRING)",
        "INSERT INTO orders VALUES (1, 1, 10), (2, 1, 20), (3, 2, 5), (3, 2, 5)",
        "INSERT INTO customers VALUES (1, 'north'), (2, 'south')",
    )
    return stage
