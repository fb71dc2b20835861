"""Declared keys in refreshes: what is not read because of them, and what counts on them only from then on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pyspark.sql import SparkSession

from trickle.errors import TrickleError
from trickle.testing.lakes import LakeSite
from trickle.testing.streams.stage import Stage

pytestmark = pytest.mark.spark

FLAT = "SELECT o.id, c.region, o.amount FROM orders o JOIN customers c ON o.cust = c.id"
REGIONS = (
    "SELECT c.region, count(*) AS n, sum(o.amount) AS v FROM orders o JOIN customers c ON o.cust = c.id GROUP BY 1"
)
PADDED = "SELECT o.id, c.region FROM orders o LEFT JOIN customers c ON o.cust = c.id"
QUERIES = {"flat": FLAT, "regions": REGIONS, "padded": PADDED}


def open_shop(stage: Stage, rely: str, *names: str, **options: str) -> None:
    stage.change(
        f"CREATE TABLE customers (id INT PRIMARY KEY {rely}, region STRING, note STRING)",
        f"CREATE TABLE orders (id INT PRIMARY KEY {rely}, cust INT REFERENCES customers {rely}, amount INT)",
        "INSERT INTO customers VALUES (1, 'north', ''), (2, 'south', ''), (3, 'south', ''), (20, 'south', '')",
        "INSERT INTO orders VALUES (1, 1, 10), (2, 1, 20), (3, 2, 5), (4, NULL, 7), (20, 20, 8)",
    )
    for name in names:
        stage.stream(name, QUERIES[name], **options)


LOADS = {
    "came": ("INSERT INTO customers VALUES (4, 'east', '')", "INSERT INTO orders VALUES (5, 4, 1), (6, 1, 1)"),
    "both": (
        "INSERT INTO customers VALUES (4, 'east', '')",
        "INSERT INTO orders VALUES (5, 4, 1), (6, 1, 1)",
        "UPDATE customers SET note = 'called' WHERE id = 1",
        "DELETE FROM customers WHERE id = 3",
    ),
}


@contextmanager
def without_files(stage: Stage, table: str) -> Iterator[None]:
    """The files that the table has now cannot be read."""
    found = stage.db.lake.table("main", table, stage.db.lake.head())
    assert found is not None
    os.rename(found.path, found.path.rstrip("/") + "_hidden")
    os.mkdir(found.path)
    try:
        yield
    finally:
        for name in os.listdir(found.path):
            os.rename(found.path + name, found.path.rstrip("/") + "_hidden/" + name)
        os.rmdir(found.path)
        os.rename(found.path.rstrip("/") + "_hidden", found.path)


@pytest.mark.parametrize(("load", "names"), [("came", ("flat", "regions", "padded")), ("both", ("flat",))])
def test_a_load_of_parents_and_children_reads_no_older_child(
    lake: LakeSite, quick: SparkSession, load: str, names: tuple[str, ...]
) -> None:
    with lake.connect(quick) as db:
        open_shop(Stage(db), "RELY", *names)
    with lake.connect(quick) as db:
        stage = Stage(db)
        with without_files(stage, "orders"):
            stage.change(*LOADS[load])
            for name in names:
                stage.refresh(name)
        for name in names:
            stage.agrees(name, QUERIES[name])


def test_without_rely_the_older_children_are_read(lake: LakeSite, quick: SparkSession) -> None:
    with lake.connect(quick) as db:
        open_shop(Stage(db), "NORELY", "flat")
    with lake.connect(quick) as db:
        stage = Stage(db)
        with without_files(stage, "orders"):
            stage.change(*LOADS["came"])
            with pytest.raises(TrickleError):
                stage.refresh("flat")
        assert stage.db.refresh_stream_table("flat").action == "DIFFERENTIAL"
        stage.agrees("flat", FLAT)


CHANGES = (
    ("DELETE FROM orders WHERE cust = 1", "DELETE FROM customers WHERE id = 1"),
    ("INSERT INTO customers VALUES (5, 'west', '')",),
    (
        "UPDATE customers SET region = 'east' WHERE id = 2",
        "DELETE FROM customers WHERE id = 3",
        "INSERT INTO customers VALUES (6, 'west', ''), (7, 'west', '')",
        "UPDATE orders SET cust = 6 WHERE id = 3",
        "INSERT INTO orders VALUES (7, 7, 3), (8, 2, 4)",
    ),
    ("UPDATE orders SET cust = NULL WHERE cust = 7", "DELETE FROM customers WHERE id = 7"),
)


@pytest.mark.parametrize("mode", ["DIFFERENTIAL", pytest.param("IMMEDIATE", marks=pytest.mark.heavy)])
def test_relying_on_keys_changes_no_answer(lake: LakeSite, quick: SparkSession, mode: str) -> None:
    with lake.connect(quick) as db:
        stage = Stage(db)
        open_shop(stage, "RELY", *QUERIES, refresh_mode=mode)
        for statements in CHANGES:
            stage.change(*statements)
            for name, query in QUERIES.items():
                db.refresh_stream_table(name)
                stage.agrees(name, query)
        assert all(check.holds for check in db.check_keys())


def test_a_key_counts_from_the_snapshot_that_declared_it(lake: LakeSite, quick: SparkSession) -> None:
    """At the frontier an order had no customer: that the key holds now says nothing of then."""
    with lake.connect(quick) as db:
        stage = Stage(db)
        open_shop(stage, "NORELY", "flat")
        stage.change("INSERT INTO orders VALUES (5, 9, 1)")
        stage.refresh("flat")
        stage.change("INSERT INTO customers VALUES (9, 'late', '')")
        for table in ("orders", "customers"):
            db.sql(f"ALTER TABLE {table} DROP PRIMARY KEY, ADD PRIMARY KEY (id) RELY")
        db.sql("ALTER TABLE orders DROP CONSTRAINT orders_cust_fkey, ADD FOREIGN KEY (cust) REFERENCES customers RELY")
        stage.refresh("flat")
        stage.agrees("flat", FLAT)


def test_a_key_declared_again_by_another_process_counts_from_then(lake: LakeSite, quick: SparkSession) -> None:
    """The first process knew the key before an order without a customer was there."""
    with lake.connect(quick) as first, lake.connect(quick) as second:
        open_shop(Stage(first), "RELY", "flat")
        Stage(first).change("INSERT INTO orders VALUES (6, 1, 1)")
        Stage(first).refresh("flat")
        stage = Stage(second)
        second.sql("ALTER TABLE orders DROP CONSTRAINT orders_cust_fkey")
        stage.change("INSERT INTO orders VALUES (5, 9, 1)")
        stage.refresh("flat")
        stage.change(
            "ALTER TABLE orders ADD FOREIGN KEY (cust) REFERENCES customers RELY",
            "INSERT INTO customers VALUES (9, 'late', '')",
        )
        Stage(first).refresh("flat")
        Stage(first).agrees("flat", FLAT)


def test_an_explanation_names_the_key_and_what_is_left_out(lake: LakeSite, quick: SparkSession) -> None:
    with lake.connect(quick) as db:
        stage = Stage(db)
        open_shop(stage, "RELY", "regions")
        stage.change(*LOADS["came"])
        told = [e for e in db.explain_st("regions") if e.section == "declared key"]
        assert [(e.item, e.detail) for e in told] == [
            ("orders_cust_fkey: orders (cust) → customers (id)", "old orders ⋈ Δcustomers is empty")
        ]
    with lake.connect(quick, refresh__rely_on_keys=False) as db:
        told = [e for e in db.explain_st("regions") if e.section == "declared key"]
        assert "refresh.rely_on_keys" in told[0].detail
