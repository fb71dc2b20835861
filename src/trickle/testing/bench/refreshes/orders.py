"""TPC-H's refresh functions: new orders with their lines come, others go with theirs, others are corrected.

As in the specification, the orders of one function stand next to each other by key, new ones in the gaps that the
generator leaves (of 32 keys it uses 8). `spread` picks them from all over the table instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np

import trickle

GAP = 8
ORDERS = "o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment"
LINES = """l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag,
    l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment"""


@dataclass
class RefreshFunctions:
    """Changes of so many orders, a third of each kind; no order is touched twice."""

    db: trickle.Session
    orders: int
    spread: bool = False
    rng: Random = field(default_factory=lambda: Random(1))

    def __post_init__(self) -> None:
        keys = self.db.sql("SELECT o_orderkey FROM orders").toArrow().column(0).to_numpy()
        self._left = np.sort(keys)

    def run(self) -> None:
        """One round, in one transaction."""
        third, rest = divmod(self.orders, 3)
        with self.db.transaction():
            for kind, many in (("insert", third), ("delete", third), ("update", third + rest)):
                if many:
                    for statement in getattr(self, f"_{kind}")(self._taken(many)):
                        self.db.sql(statement)

    def _taken(self, many: int) -> Sequence[int]:
        """Keys that were not touched yet."""
        if self.spread:
            places = np.array(self.rng.sample(range(len(self._left)), many))
        else:
            start = self.rng.randrange(len(self._left) - many)
            places = np.arange(start, start + many)
        keys = self._left[places]
        self._left = np.delete(self._left, places)
        return [int(k) for k in keys]

    def _insert(self, keys: Sequence[int]) -> Sequence[str]:
        return (
            f"INSERT INTO orders SELECT o_orderkey + {GAP}, {ORDERS} FROM orders WHERE {self._among(keys, 'o')}",
            f"INSERT INTO lineitem SELECT l_orderkey + {GAP}, {LINES} FROM lineitem WHERE {self._among(keys, 'l')}",
        )

    def _delete(self, keys: Sequence[int]) -> Sequence[str]:
        return (
            f"DELETE FROM lineitem WHERE {self._among(keys, 'l')}",
            f"DELETE FROM orders WHERE {self._among(keys, 'o')}",
        )

    def _update(self, keys: Sequence[int]) -> Sequence[str]:
        return (
            f"""UPDATE orders SET o_totalprice = o_totalprice + 1, o_orderpriority = '1-URGENT'
                WHERE {self._among(keys, "o")}""",
            f"""UPDATE lineitem SET l_extendedprice = l_extendedprice + 1, l_quantity = least(l_quantity + 1, 50)
                WHERE {self._among(keys, "l")}""",
        )

    def _among(self, keys: Sequence[int], letter: str) -> str:
        """Untouched orders between two keys are all of those between them, once inserted ones are left out."""
        name = f"{letter}_orderkey"
        if self.spread:
            return f"{name} IN ({', '.join(map(str, keys))})"
        return f"{name} BETWEEN {keys[0]} AND {keys[-1]} AND ({name} - 1) % 32 < {GAP}"
