"""Closed sessions, disks that refuse, missing files and broken catalogs: each a typed error with a hint."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psycopg
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import trickle
from trickle.errors import FileMissing, LakeError, SessionClosed, StorageError, TrickleError
from trickle.testing.disks import DiskUnavailable, fill, read_only, small_disk
from trickle.testing.lakes import LakeSite, sqlite_site
from trickle.testing.smoke import rows

pytestmark = pytest.mark.spark


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    try:
        with small_disk(tmp_path / "disk", "8m") as directory:
            yield directory
    except DiskUnavailable as reason:
        pytest.skip(str(reason))


def noise(size: int) -> pa.Table:
    """Rows that do not compress: a kilobyte each."""
    generator = np.random.default_rng(1)
    return pa.table({"a": pa.array([generator.bytes(1024) for _ in range(size)], pa.binary())})


def assert_helpful(error: TrickleError) -> None:
    assert error.hint and error.message


def test_a_closed_session_says_so(lake: LakeSite, spark: SparkSession) -> None:
    db = lake.connect(spark)
    db.sql("CREATE TABLE t (a INT)")
    db.close()
    db.close()
    for call in (lambda: db.sql("SELECT 1"), lambda: db.table("t"), lambda: db.append("t", [{"a": 1}]), db.head):
        with pytest.raises(SessionClosed) as caught:
            call()
        assert_helpful(caught.value)


@pytest.mark.parametrize("written_by", ["driver", "spark"])
def test_a_full_disk_loses_only_the_write_that_did_not_fit(disk: Path, spark: SparkSession, written_by: str) -> None:
    site = sqlite_site(disk / "lake")
    with site.connect(spark, lake__small_write_rows=0 if written_by == "spark" else 20_000) as db:
        db.sql("CREATE TABLE t (a BINARY)")
        db.append("t", noise(10))
        head, files, state = db.head(), site.files(), rows(db.table("t"))
        ballast = fill(disk, leave=1_000_000)
        with pytest.raises(StorageError) as caught:
            db.append("t", noise(2000))
        assert_helpful(caught.value)
        assert (db.head(), site.files(), rows(db.table("t"))) == (head, files, state)
        ballast.unlink()
        db.append("t", noise(10))
        assert rows(db.table("t")) == state + state


def test_a_full_disk_under_the_catalog_loses_only_the_commit(disk: Path, spark: SparkSession) -> None:
    site = sqlite_site(disk / "lake")
    with site.connect(spark) as db:
        db.sql("CREATE TABLE t (a BINARY)")
        db.append("t", noise(10))
        state = rows(db.table("t"))
        ballast = fill(disk)
        with pytest.raises(StorageError) as caught:
            for _ in range(1000):
                db.sql("CREATE TABLE another (a INT)")
                db.sql("DROP TABLE another")
        assert_helpful(caught.value)
        ballast.unlink()
        assert rows(db.table("t")) == state
        db.append("t", noise(10))
        assert rows(db.table("t")) == state + state


def test_a_lake_cannot_be_made_in_a_read_only_directory(disk: Path, spark: SparkSession) -> None:
    with read_only(disk), pytest.raises(StorageError) as caught:
        sqlite_site(disk / "lake").connect(spark)
    assert_helpful(caught.value)
    assert list(disk.iterdir()) == []


def test_a_read_only_lake_refuses_writes(disk: Path, spark: SparkSession) -> None:
    site = sqlite_site(disk / "lake")
    with site.connect(spark) as db:
        db.sql("CREATE TABLE t (a INT)")
        head = db.head()
    with read_only(disk), pytest.raises(StorageError) as caught, site.connect(spark) as db:
        db.append("t", [{"a": 1}])
    assert_helpful(caught.value)
    with site.connect(spark) as db:
        assert db.head() == head
        assert site.files() == set()


def test_a_missing_file_is_named(lake: LakeSite, spark: SparkSession) -> None:
    with lake.connect(spark) as db:
        db.sql("CREATE TABLE t (a INT)")
        db.append("t", [{"a": 1}])
        [gone] = lake.files()
        gone.unlink()
        for read in (lambda: db.table("t").collect(), lambda: db.sql("SELECT sum(a) FROM t").collect()):
            with pytest.raises(FileMissing) as caught:
                read()
            assert gone.name in str(caught.value)
            assert_helpful(caught.value)
        with pytest.raises(FileMissing):
            db.sql("UPDATE t SET a = 2")


@pytest.mark.parametrize("damage", ["garbage", "truncated", "emptied table"])
def test_a_corrupt_catalog_is_refused(lake_sqlite: LakeSite, spark: SparkSession, damage: str) -> None:
    with lake_sqlite.connect(spark) as db:
        db.sql("CREATE TABLE t (a INT)")
    catalog = Path(lake_sqlite.address.catalog)
    if damage == "garbage":
        catalog.write_bytes(b"this is not a database, " * 1000)
    elif damage == "truncated":
        catalog.write_bytes(catalog.read_bytes()[:4096])
    else:
        with sqlite3.connect(catalog) as raw:
            raw.execute("DELETE FROM ducklake_snapshot")
        raw.close()
    before = catalog.read_bytes()
    with pytest.raises(LakeError) as caught, lake_sqlite.connect(spark) as db:
        db.table("t").collect()
    assert_helpful(caught.value)
    assert catalog.read_bytes() == before


def test_a_newer_format_is_refused(lake: LakeSite, spark: SparkSession) -> None:
    with lake.connect(spark) as db:
        db.sql("CREATE TABLE t (a INT)")
    statement = "UPDATE {}ducklake_metadata SET value = '99.0' WHERE key = 'version'"
    if lake.address.on_postgres:
        with psycopg.connect(lake.address.catalog) as server:
            server.execute(statement.format(f"{lake.address.schema}."))
    else:
        with sqlite3.connect(lake.address.catalog) as raw:
            raw.execute(statement.format(""))
        raw.close()
    with pytest.raises(LakeError, match=r"99\.0") as caught:
        lake.connect(spark)
    assert_helpful(caught.value)


def test_a_foreign_database_is_refused_and_left_alone(lake_sqlite: LakeSite, spark: SparkSession) -> None:
    catalog = Path(lake_sqlite.address.catalog)
    catalog.parent.mkdir()
    with sqlite3.connect(catalog) as raw:
        raw.execute("CREATE TABLE customers (id INT)")
    raw.close()
    before = catalog.read_bytes()
    with pytest.raises(LakeError) as caught:
        lake_sqlite.connect(spark)
    assert_helpful(caught.value)
    assert catalog.read_bytes() == before


def test_a_server_that_does_not_answer_is_named(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(TrickleError) as caught:
        trickle.connect("postgresql://nobody@127.0.0.1:1/none", data_path=str(tmp_path), spark=spark)
    assert "127.0.0.1" in str(caught.value)
    assert_helpful(caught.value)
