"""Tables, schemas and views: what CREATE, ALTER and DROP make of a lake, on every catalog."""

from __future__ import annotations

import pytest

import trickle
from trickle.errors import DependentsExist, NotFound
from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.lakes import LakeSite
from trickle.testing.smoke import rows

pytestmark = pytest.mark.spark


def names(db: trickle.Session, schema: str | None = None) -> set[str]:
    return {table.name for table in db.tables(schema)}


def test_a_created_table_is_empty_and_listed(db: trickle.Session) -> None:
    db.sql("CREATE TABLE t (a INT, b STRING)")
    assert db.table("t").columns == ["a", "b"]
    assert rows(db.table("t")) == {}
    assert "t" in names(db)


def test_if_not_exists_and_if_exists_pass_over_what_is_there_and_what_is_not(db: trickle.Session) -> None:
    db.sql("CREATE TABLE IF NOT EXISTS t (a INT)")
    head = db.head()
    db.sql("CREATE TABLE IF NOT EXISTS t (b STRING)")
    db.sql("DROP TABLE IF EXISTS nowhere")
    db.sql("CREATE SCHEMA IF NOT EXISTS main")
    assert db.head() == head
    assert db.table("t").columns == ["a"]


def test_a_table_can_be_made_from_a_query(db: trickle.Session) -> None:
    db.sql("CREATE TABLE t AS SELECT id AS n, concat('x', id) AS s FROM range(3)")
    assert rows(db.table("t")) == {(0, "x0"): 1, (1, "x1"): 1, (2, "x2"): 1}


def test_old_rows_show_an_added_column_with_its_default(db: trickle.Session) -> None:
    db.sql("CREATE TABLE t (a INT)")
    db.sql("INSERT INTO t VALUES (1)")
    db.sql("ALTER TABLE t ADD COLUMN b INT DEFAULT 7")
    db.sql("ALTER TABLE t ADD COLUMNS (c STRING, d DATE)")
    db.sql("INSERT INTO t (a) VALUES (2)")
    db.sql("INSERT INTO t (a, b) VALUES (3, NULL)")
    assert rows(db.table("t")) == {(1, 7, None, None): 1, (2, 7, None, None): 1, (3, None, None, None): 1}


def test_a_changed_default_leaves_old_rows_alone(db: trickle.Session) -> None:
    db.sql("CREATE TABLE t (a INT, b INT DEFAULT 1)")
    db.sql("INSERT INTO t (a) VALUES (1)")
    db.sql("ALTER TABLE t ALTER COLUMN b SET DEFAULT 2")
    db.sql("INSERT INTO t (a) VALUES (2)")
    db.sql("ALTER TABLE t ALTER COLUMN b DROP DEFAULT")
    db.sql("INSERT INTO t (a) VALUES (3)")
    assert rows(db.table("t")) == {(1, 1): 1, (2, 2): 1, (3, None): 1}


def test_a_dropped_column_does_not_come_back_under_its_old_name(db: trickle.Session) -> None:
    db.sql("CREATE TABLE t (a INT, b STRING)")
    db.sql("INSERT INTO t VALUES (1, 'old')")
    db.sql("ALTER TABLE t DROP COLUMN b")
    db.sql("ALTER TABLE t ADD COLUMN b STRING")
    assert rows(db.table("t")) == {(1, None): 1}


def test_names_can_be_swapped(db: trickle.Session) -> None:
    db.sql("CREATE TABLE t (a INT, b INT)")
    db.sql("INSERT INTO t VALUES (1, 2)")
    with db.transaction():
        db.sql("ALTER TABLE t RENAME COLUMN a TO c")
        db.sql("ALTER TABLE t RENAME COLUMN b TO a")
        db.sql("ALTER TABLE t RENAME COLUMN c TO b")
    assert db.table("t").columns == ["b", "a"]
    assert rows(db.sql("SELECT a, b FROM t")) == {(2, 1): 1}


def test_a_widened_column_holds_old_and_new_values(db: trickle.Session, lake: LakeSite, peer: DuckDBPeer) -> None:
    db.sql("CREATE TABLE t (a TINYINT, f FLOAT)")
    db.sql("INSERT INTO t VALUES (127, CAST('0.5' AS FLOAT))")
    db.sql("ALTER TABLE t ALTER COLUMN a TYPE BIGINT")
    db.sql("ALTER TABLE t ALTER COLUMN f TYPE DOUBLE")
    db.sql("INSERT INTO t VALUES (9223372036854775807, 0.1)")
    expected = {(127, 0.5): 1, (2**63 - 1, 0.1): 1}
    assert rows(db.table("t")) == expected
    assert rows(db.sql("SELECT * FROM t WHERE a > 1000")) == {(2**63 - 1, 0.1): 1}
    assert peer.scalar(lake.address, "SELECT count(*) FROM t WHERE a > 100") == 2


def test_not_null_can_be_dropped_and_set(db: trickle.Session) -> None:
    db.sql("CREATE TABLE t (a INT NOT NULL)")
    db.sql("ALTER TABLE t ALTER COLUMN a DROP NOT NULL")
    db.sql("INSERT INTO t VALUES (NULL)")
    with pytest.raises(trickle.TrickleError):
        db.sql("ALTER TABLE t ALTER COLUMN a SET NOT NULL")
    db.sql("DELETE FROM t WHERE a IS NULL")
    db.sql("ALTER TABLE t ALTER COLUMN a SET NOT NULL")
    with pytest.raises(trickle.TrickleError):
        db.sql("INSERT INTO t VALUES (NULL)")


def test_a_primary_key_is_a_promise_that_nobody_checks(db: trickle.Session) -> None:
    db.sql("CREATE TABLE t (a INT, b INT, PRIMARY KEY (a))")
    db.sql("INSERT INTO t VALUES (1, 1), (1, 2)")
    assert rows(db.table("t")) == {(1, 1): 1, (1, 2): 1}


def test_partitions_hold_every_kind_of_value(db: trickle.Session, lake: LakeSite, peer: DuckDBPeer) -> None:
    db.sql("CREATE TABLE t (a INT, p STRING) PARTITIONED BY (p)")
    db.sql("INSERT INTO t VALUES (1, 'x'), (2, 'y/z=1'), (3, ''), (4, NULL), (5, 'Größe'), (6, 'x')")
    db.sql("DELETE FROM t WHERE p = 'y/z=1'")
    db.sql("UPDATE t SET p = 'x' WHERE p IS NULL")
    expected = {(1, "x"): 1, (3, ""): 1, (4, "x"): 1, (5, "Größe"): 1, (6, "x"): 1}
    assert rows(db.table("t")) == expected
    assert peer.rows(lake.address, "FROM t").counts == expected
    assert rows(db.sql("SELECT a FROM t WHERE p = 'Größe'")) == {(5,): 1}


def test_a_table_may_be_clustered_from_birth(db: trickle.Session) -> None:
    db.sql("CREATE TABLE t (a INT, b STRING) CLUSTER BY (a)")
    db.sql("INSERT INTO t SELECT 100 - id, 'x' FROM range(100)")
    db.cluster("t")
    assert db.sql("SELECT count(*), min(a), max(a) FROM t").collect()[0] == (100, 1, 100)


def test_a_dropped_table_is_gone_but_not_its_past(db: trickle.Session) -> None:
    db.sql("CREATE TABLE t (a INT)")
    db.sql("INSERT INTO t VALUES (1)")
    head = db.head()
    db.sql("DROP TABLE t")
    with pytest.raises(NotFound):
        db.table("t")
    db.sql("CREATE TABLE t (b STRING)")
    assert rows(db.table("t", at=head)) == {(1,): 1}
    assert rows(db.table("t")) == {}


def test_schemas_keep_tables_apart(db: trickle.Session) -> None:
    db.sql("CREATE SCHEMA sales")
    db.sql("CREATE TABLE t (a INT)")
    db.sql("CREATE TABLE sales.t (b STRING)")
    db.sql("INSERT INTO sales.t VALUES ('x')")
    assert rows(db.sql("SELECT b FROM sales.t")) == {("x",): 1}
    assert rows(db.sql("SELECT a FROM t")) == {}
    assert names(db, "sales") == {"t"}
    with pytest.raises(DependentsExist):
        db.sql("DROP SCHEMA sales")
    db.sql("DROP TABLE sales.t")
    db.sql("DROP SCHEMA sales")
    with pytest.raises(NotFound):
        db.sql("CREATE TABLE sales.u (a INT)")


def test_a_schema_can_be_dropped_with_all_it_holds(db: trickle.Session) -> None:
    db.sql("CREATE SCHEMA sales")
    db.sql("CREATE TABLE sales.t (a INT)")
    db.sql("CREATE VIEW sales.v AS SELECT a FROM sales.t")
    db.sql("DROP SCHEMA sales CASCADE")
    with pytest.raises(NotFound):
        db.table("sales.t")


def test_a_view_follows_its_tables(db: trickle.Session) -> None:
    db.sql("CREATE TABLE t (a INT)")
    db.sql("CREATE VIEW v AS SELECT a, a * 2 AS twice FROM t WHERE a > 1")
    db.sql("INSERT INTO t VALUES (1), (2)")
    assert rows(db.sql("SELECT * FROM v")) == {(2, 4): 1}
    db.sql("CREATE OR REPLACE VIEW v AS SELECT a FROM t")
    assert rows(db.table("v")) == {(1,): 1, (2,): 1}
    db.sql("CREATE VIEW w (n) AS SELECT max(a) FROM v")
    assert rows(db.sql("SELECT n FROM w")) == {(2,): 1}
    db.sql("DROP VIEW w")
    with pytest.raises(NotFound):
        db.sql("SELECT * FROM w")


NASTY = ('x"; DROP TABLE t; --', "x'); DELETE FROM t; --", "`tick`", "a.b", " lead", "Ünï 😀", "%s {0} :p")


@pytest.mark.parametrize("nasty", NASTY)
def test_names_are_only_names(db: trickle.Session, lake: LakeSite, peer: DuckDBPeer, nasty: str) -> None:
    spark_name = "`" + nasty.replace("`", "``") + "`"
    duckdb_name = '"' + nasty.replace('"', '""') + '"'
    db.sql("CREATE TABLE t (a INT)")
    db.sql("INSERT INTO t VALUES (1)")
    db.sql(f"CREATE TABLE {spark_name} (a INT, {spark_name} STRING)")
    db.sql(f"INSERT INTO {spark_name} ({spark_name}) VALUES ('v')")
    db.sql(f"UPDATE {spark_name} SET {spark_name} = concat({spark_name}, '!') WHERE {spark_name} = 'v'")
    assert rows(db.table(spark_name)) == {(None, "v!"): 1}
    assert peer.rows(lake.address, f"FROM {duckdb_name}").counts == {(None, "v!"): 1}
    assert rows(db.changes(spark_name, 0, db.head())) == {(None, "v!", 1): 1}
    assert rows(db.table("t")) == {(1,): 1}
