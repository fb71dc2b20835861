"""Stream tables that belong together are refreshed in one commit, or not at all."""

from __future__ import annotations

import pytest

from trickle.errors import TrickleError
from trickle.refresh.result import RefreshResult
from trickle.refresh.together import refresh_together
from trickle.sql.parse import table_name
from trickle.testing.streams.stage import Stage

pytestmark = pytest.mark.spark

PER_CUSTOMER = "SELECT cust, count(*) AS n, sum(amount) AS amount FROM orders GROUP BY cust"
LARGE = "SELECT id, cust, amount FROM orders WHERE amount > 8"
BOTH = "SELECT l.id, p.n, p.amount FROM large l JOIN per p ON p.cust = l.cust"
BY_REGION = """
SELECT c.region, sum(b.amount) AS amount
FROM both b JOIN orders o ON o.id = b.id JOIN customers c ON c.id = o.cust GROUP BY c.region
"""
QUERIES = {"per": PER_CUSTOMER, "large": LARGE, "both": BOTH, "by_region": BY_REGION}


def together(shop: Stage, *names: str) -> list[RefreshResult]:
    streams = shop.db._streams
    tables = [streams.find(table_name(name)) for name in names]
    return refresh_together(streams.refresher, tables, shop.db.lake.head())


def diamond(shop: Stage, **modes: str) -> None:
    for name, query in QUERIES.items():
        shop.stream(name, query, refresh_mode=modes.get(name, "DIFFERENTIAL"))


def agree(shop: Stage) -> None:
    for name, query in QUERIES.items():
        shop.agrees(name, query)


@pytest.mark.parametrize(
    "modes",
    [
        {},
        pytest.param({"per": "FULL"}, marks=pytest.mark.heavy),
        pytest.param({"both": "FULL"}, marks=pytest.mark.heavy),
    ],
)
def test_a_diamond_is_one_commit_and_exact_again_and_again(shop: Stage, modes: dict[str, str]) -> None:
    diamond(shop, **modes)
    for statement in (
        "INSERT INTO orders VALUES (4, 2, 9), (5, 1, 1)",
        "UPDATE orders SET amount = amount + 5 WHERE cust = 2",
        "DELETE FROM orders WHERE id = 2",
    ):
        shop.change(statement)
        head = shop.db.head()
        results = together(shop, *QUERIES)
        assert {r.data_snapshot for r in results} == {head}
        assert {r.snapshot for r in results} == {head + 1} == {shop.db.head()}
        agree(shop)
    shop.change("INSERT INTO customers VALUES (3, 'east')")
    results = together(shop, *QUERIES)
    assert [r.action for r in results[:3]] == ["NO_DATA"] * 3
    assert {s.data_snapshot for s in shop.db.stream_table_status()} == {results[0].data_snapshot}
    shop.change("INSERT INTO orders VALUES (6, 3, 30)")
    for name in QUERIES:
        shop.db.refresh_stream_table(name)
    agree(shop)


def test_members_refreshed_apart_in_between_go_on_together(shop: Stage) -> None:
    diamond(shop)
    shop.change("INSERT INTO orders VALUES (4, 2, 9)")
    together(shop, *QUERIES)
    shop.change("INSERT INTO orders VALUES (5, 1, 12)")
    shop.refresh("per")
    shop.change("INSERT INTO orders VALUES (6, 1, 13)")
    together(shop, *QUERIES)
    agree(shop)


def test_when_one_member_fails_none_is_committed(shop: Stage) -> None:
    diamond(shop)
    shop.stream("ratio", "SELECT id, 100 / (n - 4) AS part FROM both")
    shop.change("INSERT INTO orders VALUES (4, 2, 9), (5, 2, 9)")
    head, before = shop.db.head(), {n: shop.rows(n) for n in QUERIES}
    with pytest.raises(TrickleError):
        together(shop, *QUERIES, "ratio")
    assert shop.db.head() == head
    assert {n: shop.rows(n) for n in QUERIES} == before
    states = {s.name: s.status for s in shop.db.stream_table_status()}
    assert states == {**dict.fromkeys(QUERIES, "ACTIVE"), "ratio": "ERROR"}
    shop.change("INSERT INTO orders VALUES (6, 2, 9)")
    together(shop, *QUERIES, "ratio")
    agree(shop)


def test_a_member_that_is_not_filled_yet_is_filled_first(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER)
    shop.stream("large", LARGE, initialize=False)
    shop.change("INSERT INTO orders VALUES (4, 2, 9)")
    assert [r.action for r in together(shop, "per", "large")] == ["DIFFERENTIAL", "FULL"]
    shop.agrees("large", LARGE)
