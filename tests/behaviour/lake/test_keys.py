"""Declared keys: what CREATE and ALTER make of them, what stays of them, and whether rows agree."""

from __future__ import annotations

import pytest

import trickle
from trickle.errors import AlreadyExists, NotFound, QueryError
from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.lakes import LakeSite

pytestmark = pytest.mark.spark


@pytest.fixture
def shop(db: trickle.Session) -> trickle.Session:
    with db.transaction():
        db.sql("CREATE TABLE customers (id INT CONSTRAINT customer_id PRIMARY KEY RELY, boss INT)")
        db.sql(
            "CREATE TABLE orders (id INT, line INT, cust BIGINT, PRIMARY KEY (id, line) NORELY, "
            "FOREIGN KEY (cust) REFERENCES customers RELY)"
        )
        db.sql("ALTER TABLE customers ADD CONSTRAINT up FOREIGN KEY (boss) REFERENCES customers (id) NOT ENFORCED")
    return db


def facts(db: trickle.Session, table: str | None = None) -> list[tuple[object, ...]]:
    return [
        (c.table, c.name, c.kind, c.columns, c.referenced_table, c.referenced_columns, c.rely)
        for c in db.table_constraints(table)
    ]


DECLARED = [
    ("customers", "customer_id", "PRIMARY KEY", ("id",), "", (), True),
    ("customers", "up", "FOREIGN KEY", ("boss",), "customers", ("id",), False),
    ("orders", "orders_pkey", "PRIMARY KEY", ("id", "line"), "", (), False),
    ("orders", "orders_cust_fkey", "FOREIGN KEY", ("cust",), "customers", ("id",), True),
]


def test_keys_are_facts(shop: trickle.Session) -> None:
    assert facts(shop) == DECLARED
    assert facts(shop, "orders") == DECLARED[2:]
    found = shop.sql("SELECT name, columns, rely FROM trickle.table_constraints WHERE kind = 'FOREIGN KEY'").collect()
    assert [tuple(row) for row in found] == [("up", ["boss"], False), ("orders_cust_fkey", ["cust"], True)]


def test_keys_follow_renames_also_those_of_others(shop: trickle.Session, lake: LakeSite, peer: DuckDBPeer) -> None:
    shop.sql("ALTER TABLE customers RENAME COLUMN id TO number")
    peer.run(lake.address, "ALTER TABLE customers RENAME TO clients")
    peer.run(lake.address, "ALTER TABLE orders RENAME COLUMN cust TO client")
    assert facts(shop)[0] == ("clients", "customer_id", "PRIMARY KEY", ("number",), "", (), True)
    assert facts(shop)[3] == ("orders", "orders_cust_fkey", "FOREIGN KEY", ("client",), "clients", ("number",), True)


def test_keys_go_with_their_tables(shop: trickle.Session, lake: LakeSite, peer: DuckDBPeer) -> None:
    peer.run(lake.address, "DROP TABLE customers")
    assert facts(shop) == [DECLARED[2]]
    shop.sql("CREATE TABLE customers (id INT PRIMARY KEY)")
    assert ("orders", "orders_cust_fkey") not in {fact[:2] for fact in facts(shop)}, "another table of that name"
    shop.sql("ALTER TABLE orders ADD FOREIGN KEY (cust) REFERENCES customers")
    assert facts(shop)[-1] == (*DECLARED[3][:-1], False)


def test_keys_are_dropped_by_name(shop: trickle.Session) -> None:
    shop.sql("ALTER TABLE orders DROP CONSTRAINT ORDERS_CUST_FKEY, DROP PRIMARY KEY")
    shop.sql("ALTER TABLE customers DROP CONSTRAINT IF EXISTS nothing, DROP CONSTRAINT customer_id")
    assert [fact[1] for fact in facts(shop)] == ["up"]
    assert facts(shop)[0][4:6] == ("customers", ("id",))


@pytest.mark.parametrize(
    ("statement", "error", "said"),
    [
        ("ALTER TABLE orders DROP COLUMN cust", QueryError, "foreign key"),
        ("ALTER TABLE customers DROP COLUMN id", QueryError, "primary key"),
        ("ALTER TABLE orders ADD PRIMARY KEY (id)", AlreadyExists, "primary key already"),
        ("ALTER TABLE orders ADD FOREIGN KEY (cust) REFERENCES customers", AlreadyExists, "orders_cust_fkey"),
        ("ALTER TABLE orders ADD FOREIGN KEY (id, line) REFERENCES customers", QueryError, "no primary key of 2"),
        ("ALTER TABLE orders ADD FOREIGN KEY (nothing) REFERENCES customers", NotFound, "nothing"),
        ("ALTER TABLE orders ADD FOREIGN KEY (cust) REFERENCES nowhere", NotFound, "nowhere"),
        ("ALTER TABLE orders DROP CONSTRAINT nothing", NotFound, "nothing"),
        ("CREATE TABLE notes (who STRING REFERENCES customers)", QueryError, "cannot reference"),
    ],
)
def test_what_means_nothing_is_refused(
    shop: trickle.Session, statement: str, error: type[trickle.TrickleError], said: str
) -> None:
    with pytest.raises(error, match=said):
        shop.sql(statement)
    assert facts(shop) == DECLARED


def test_rows_are_held_against_the_keys(shop: trickle.Session) -> None:
    shop.sql("INSERT INTO customers VALUES (1, NULL), (2, 1)")
    shop.sql("INSERT INTO orders VALUES (1, 1, 1), (1, 2, NULL), (2, 1, 2)")
    assert [(c.name, c.holds, c.violations) for c in shop.check_keys()] == [
        ("customer_id", True, 0),
        ("up", True, 0),
        ("orders_pkey", True, 0),
        ("orders_cust_fkey", True, 0),
    ]
    shop.sql("INSERT INTO customers VALUES (2, 9), (NULL, 1)")
    shop.sql("INSERT INTO orders SELECT 1, 1, 100 + id FROM range(7)")
    found = {c.name: (c.holds, c.violations, c.examples) for c in shop.check_keys()}
    assert found == {
        "customer_id": (False, 2, ("NULL: 1 row", "2: 2 rows")),
        "up": (False, 1, ("9: 1 row",)),
        "orders_pkey": (False, 1, ("(1, 1): 8 rows",)),
        "orders_cust_fkey": (False, 7, tuple(f"{n}: 1 row" for n in range(100, 105))),
    }
    told = shop.sql("SELECT violations FROM trickle.check_keys(table => 'customers') WHERE NOT holds").collect()
    assert [row[0] for row in told] == [2, 1]


def test_old_snapshots_know_the_keys_they_had(shop: trickle.Session, lake: LakeSite) -> None:
    """A key that was declared before keys had names and RELY is read as one without."""
    from sqlalchemy import text

    with shop.lake.catalog.writing() as connection:
        schema = f'"{shop.lake.catalog.schema}".' if shop.lake.catalog.schema else ""
        connection.execute(
            text(
                f"UPDATE {schema}ducklake_tag SET value = '[1]' WHERE key = 'trickle.primary_key' AND value LIKE :name"
            ),
            {"name": "%customer_id%"},
        )
    with lake.connect(shop.spark) as again:
        assert facts(again)[0] == ("customers", "customers_pkey", "PRIMARY KEY", ("id",), "", (), False)
        again.sql("ALTER TABLE customers DROP CONSTRAINT customers_pkey")
        assert [fact[1] for fact in facts(again)] == ["up", "orders_pkey", "orders_cust_fkey"]
