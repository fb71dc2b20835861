"""Fixtures that every suite shares: one Spark, one PostgreSQL and one DuckDB per run, a new lake per test."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import trickle
from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.effort import Effort
from trickle.testing.lakes import LakeSite, postgres_site, sqlite_site
from trickle.testing.postgres_server import PostgresServer, PostgresUnavailable, start_postgres

CATALOGS = ("sqlite", "postgres")
HEAVY = (
    "acceptance/test_concurrency",
    "acceptance/test_daemon_measured",
    "acceptance/test_daemon_pools",
    "acceptance/test_daemon_told",
    "acceptance/test_spec_queries",
    "acceptance/test_sql_matrix",
    "acceptance/test_stream_cost",
    "acceptance/test_stream_crash",
    "acceptance/test_stream_metamorphic",
    "acceptance/test_stream_tables",
    "integration/test_bench_lake",
    "integration/test_standalone_cluster",
)
"""Suites of many minutes, or that measure and want the machine for themselves: on request (`--heavy`, `--long`)."""
HEAVY_ON_POSTGRES = (
    "behaviour/streams/",
    "acceptance/test_agreement",
    "acceptance/test_crash",
    "acceptance/test_daemon",
    "acceptance/test_scheduler",
)
"""Suites that are slow and the same on both catalogs: on PostgreSQL on request."""

LONGEST = (
    "oracle/test_queries",
    "oracle/test_delta",
    "acceptance/test_agreement",
    "acceptance/test_crash",
    "behaviour/",
    "acceptance/",
    "integration/",
)
"""Files that are begun first, so that the workers end together."""

SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Java for processes that see each plan once or twice: to compile it well takes longer than to run it."""

FOR_FEW_ROWS = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.files.minPartitionNum": "1",
}
"""Thousands of different plans over a few rows each: compiling them would cost more than running them."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--heavy", action="store_true", help="run the full forms of the suites")
    parser.addoption("--long", action="store_true", help="run the long forms of the acceptance suites")


def pytest_configure(config: pytest.Config) -> None:
    """Of this process and of those that tests start; what measures runs on Java as users have it."""
    if not config.getoption("--heavy") and not config.getoption("--long"):
        os.environ.setdefault("SPARK_SUBMIT_OPTS", SHORT_LIVED)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=_place)
    if config.getoption("--long"):
        return
    left = [i for i in items if i.get_closest_marker("long") or (not config.getoption("--heavy") and _is_heavy(i))]
    config.hook.pytest_deselected(items=left)
    gone = set(left)
    items[:] = [item for item in items if item not in gone]


def _is_heavy(item: pytest.Item) -> bool:
    if item.get_closest_marker("heavy"):
        return True
    parts = (*HEAVY, *HEAVY_ON_POSTGRES) if item.get_closest_marker("postgres") else HEAVY
    return any(part in item.path.as_posix() for part in parts)


def _place(item: pytest.Item) -> int:
    path = item.path.as_posix()
    return next((n for n, part in enumerate(LONGEST) if part in path), len(LONGEST))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say what was skipped and why, so that a green run hides nothing."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(str(report.longrepr[2]).removeprefix("Skipped: ") for report in skipped)
    for reason, number in reasons.most_common():
        terminalreporter.write_line(f"skipped {number}: {reason}")


@pytest.fixture(scope="session")
def effort(pytestconfig: pytest.Config) -> Effort:
    """How much of each suite was asked for."""
    if pytestconfig.getoption("--long"):
        return Effort.LONG
    return Effort.FULL if pytestconfig.getoption("--heavy") else Effort.SHORT


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "2g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.log.level": "ERROR",
    }
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").appName("trickle tests")
    session = builder.config(map=settings).getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def quick(spark: SparkSession) -> SparkSession:
    """A session for many different plans over few rows."""
    session = spark.newSession()
    for name, value in FOR_FEW_ROWS.items():
        session.conf.set(name, value)
    return session


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    try:
        server = start_postgres()
    except PostgresUnavailable as error:
        pytest.skip(f"no PostgreSQL: {error}")
    with server:
        yield server


@pytest.fixture(scope="session")
def peer() -> Iterator[DuckDBPeer]:
    with DuckDBPeer() as running:
        yield running


@pytest.fixture
def lake_sqlite(tmp_path: Path) -> LakeSite:
    return sqlite_site(tmp_path / "lake")


@pytest.fixture
def lake_postgres(postgres: PostgresServer, tmp_path: Path) -> Iterator[LakeSite]:
    url = postgres.database()
    yield postgres_site(url, tmp_path / "lake")
    postgres.drop(url)


@pytest.fixture(params=[pytest.param(c, marks=pytest.mark.postgres if c == "postgres" else ()) for c in CATALOGS])
def lake(request: pytest.FixtureRequest) -> LakeSite:
    """A place for a new lake, once over SQLite and once over PostgreSQL."""
    site: LakeSite = request.getfixturevalue(f"lake_{request.param}")
    return site


@pytest.fixture
def db(lake: LakeSite, spark: SparkSession) -> Iterator[trickle.Session]:
    with lake.connect(spark) as session:
        yield session
