"""A refresh that takes most rows of a file leaves no large delete file behind."""

from __future__ import annotations

import pytest

from trickle.lake.files import live_files
from trickle.lake.model import DataFile
from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.lakes import LakeSite
from trickle.testing.streams.stage import Stage

pytestmark = pytest.mark.spark

COPY = "SELECT id, cust FROM orders"


def stored_files(shop: Stage, name: str) -> list[DataFile]:
    head = shop.db.lake.head()
    table = shop.db.lake.table("trickle", name, head)
    assert table is not None
    with shop.db.lake.reading() as connection:
        return live_files(shop.db.lake.catalog, connection, table, head.id)


def test_what_stays_of_a_file_is_written_anew_and_readers_see_only_the_change(
    shop: Stage, lake: LakeSite, peer: DuckDBPeer
) -> None:
    shop.db.append(
        "orders", shop.db.spark.sql("SELECT int(id), int(id % 7) AS cust, 1 AS amount FROM range(10, 50000)")
    )
    shop.stream("copy", COPY)
    shop.stream("count", "SELECT cust, count(*) AS n FROM copy GROUP BY cust")
    head = shop.db.head()
    shop.change("DELETE FROM orders WHERE id > 300")
    shop.refresh("count")
    files = stored_files(shop, "copy")
    assert (sum(f.records for f in files), sum(f.deleted for f in files)) == (295, 0)
    shop.agrees("copy", COPY)
    shop.agrees("count", f"SELECT cust, count(*) AS n FROM ({COPY}) GROUP BY cust")
    assert shop.db.changes("copy", head).where("__w > 0").count() == 0
    assert sum(peer.rows(lake.address, "FROM copy").counts.values()) == 295


def test_small_files_become_one_unless_somebody_reads_them_and_would_count_what_did_not_change(shop: Stage) -> None:
    totals = "SELECT id, sum(amount) AS total FROM orders GROUP BY id"
    shop.db.append("orders", shop.db.spark.sql("SELECT int(id), 1 AS cust, int(id) AS amount FROM range(10, 100)"))
    shop.stream("alone", totals)
    shop.stream("followed", totals)
    shop.stream("follower", "SELECT id, total FROM followed")
    shop.change("UPDATE orders SET amount = amount + 1 WHERE id % 2 = 0")
    changed = shop.db.sql("SELECT id FROM orders WHERE id % 2 = 0").distinct().count()
    shop.refresh("alone")
    shop.refresh("followed")
    (file,) = stored_files(shop, "alone")  # what came and what stayed
    assert file.deleted == 0 < file.records
    refresher = shop.db._streams.refresher
    assert refresher.look(refresher.find("main", "follower")).changed_rows == 2 * changed
    shop.refresh("follower")
    for name in ("alone", "followed", "follower"):
        shop.agrees(name, totals)
