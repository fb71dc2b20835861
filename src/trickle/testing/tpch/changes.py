"""Changes of TPC-H's rows: what a seed says, cycle by cycle, about half a percent of the orders in each.

From scale factor 0.1 on, larger tables do not change more: a refresh should cost what the change does.

Rows are picked by a hash of their key, and new values are those that the queries ask for, so that most cycles change
the answer of most queries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

ORDER_KEYS = 6_000_000
PARTS = 200_000
SUPPLIERS = 10_000
CUSTOMERS = 150_000

BUSY_DAYS = ("1993-10-20", "1994-02-01", "1995-03-16", "1995-09-01", "1996-01-01")
"""Begins of periods that many queries look at."""
NATIONS = (2, 3, 6, 7, 8, 12, 20)
"""Brazil, Canada, France, Germany, India, Japan, Saudi Arabia: those that queries name, and two of Asia."""
CODES = (13, 31, 23, 29, 30, 18, 17)
KINDS = (
    ("p_type", "ECONOMY ANODIZED STEEL", "PROMO PLATED BRASS", "LARGE POLISHED BRASS", "SMALL BURNISHED BRASS"),
    ("p_size", 49, 15, 15, 15),
)
PACKS = (
    ("p_brand", "Brand#23", "Brand#12", "Brand#34", "Brand#45"),
    ("p_container", "MED BOX", "SM PACK", "LG CASE", "JUMBO JAR"),
    ("p_size", 5, 3, 9, 14),
)

Transaction = tuple[str, ...]


@dataclass(frozen=True)
class Changes:
    """The statements of each cycle: orders come, orders go, and what is left is corrected."""

    scale: float
    seed: int

    @property
    def rarely(self) -> int:
        """By how much fewer rows than half a percent are changed."""
        return max(1, round(self.scale * 10))

    def cycles(self) -> Iterator[tuple[Transaction, ...]]:
        rng = Random(self.seed)
        number = 0
        while True:
            number += 1
            yield (self._come(rng, number), self._go(rng), (*self._corrected_orders(rng), *self._corrected_others(rng)))

    def _come(self, rng: Random, number: int) -> Transaction:
        """Copies of first orders under keys that no order had, for other customers."""
        stride = self._sized(ORDER_KEYS)
        some = self._picked(rng, 300, "{0}_orderkey") + f" AND {{0}}_orderkey <= {stride}"
        return (
            f"""INSERT INTO orders
                SELECT o_orderkey + {number * stride}, {self._another_customer(rng)}, o_orderstatus, o_totalprice + 1,
                       o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment
                FROM orders WHERE {some.format("o")}""",
            f"""INSERT INTO lineitem
                SELECT l_orderkey + {number * stride}, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice,
                       l_discount, l_tax, l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate,
                       l_shipinstruct, l_shipmode, l_comment
                FROM lineitem WHERE {some.format("l")}""",
        )

    def _corrected_orders(self, rng: Random) -> Transaction:
        urgency = rng.choice(("1-URGENT", "5-LOW"))
        part = f"(l_partkey + {rng.randint(1, 50)}) % {self._sized(PARTS)} + 1"
        return (
            f"UPDATE orders SET o_custkey = {self._another_customer(rng)} WHERE {self._picked(rng, 300, 'o_orderkey')}",
            f"""UPDATE orders SET o_totalprice = o_totalprice + 100, o_orderpriority = '{urgency}'
                WHERE {self._picked(rng, 300, "o_orderkey")}""",
            f"""UPDATE lineitem SET l_extendedprice = CAST(l_extendedprice * 1.{rng.randint(10, 30)} AS DECIMAL(15, 2))
                WHERE {self._on_busy_days(rng)}""",
            f"UPDATE lineitem SET l_quantity = least(l_quantity + 20, 50) WHERE {self._picked(rng, 200, 'l_orderkey')}",
            f"""UPDATE lineitem SET l_partkey = {part}, l_suppkey = {self._supplier_of(part, rng.randint(0, 3))}
                WHERE {self._picked(rng, 500, "l_orderkey", "l_linenumber")}""",
            f"""UPDATE lineitem SET l_discount = 0.06, l_quantity = {rng.randint(1, 23)}, l_shipmode = 'MAIL'
                WHERE {self._picked(rng, 500, "l_orderkey", "l_linenumber")}""",
            f"""UPDATE lineitem SET l_receiptdate = l_commitdate + {rng.randint(0, 3)}, l_shipmode = 'AIR',
                                    l_shipinstruct = 'DELIVER IN PERSON'
                WHERE {self._picked(rng, 500, "l_orderkey", "l_linenumber")}""",
        )

    def _corrected_others(self, rng: Random) -> Transaction:
        name, opinion = rng.choice(("plum", "puff")), rng.choice(("fine", "Customer Complaints"))
        return (
            f"""UPDATE customer SET c_acctbal = c_acctbal + {rng.randint(100, 900)}, c_mktsegment = 'BUILDING',
                                    c_phone = concat({self._in_turn("c_custkey", CODES)}, substring(c_phone, 3))
                WHERE {self._one_of(rng, 150, "c_custkey")}""",
            f"""UPDATE customer SET c_nationkey = {self._in_turn("c_custkey", NATIONS)}, c_address = 'moved'
                WHERE {self._one_of(rng, 150, "c_custkey")}""",
            f"""UPDATE part SET {", ".join(f"{c} = {self._in_turn('p_partkey', values)}" for c, *values in KINDS)}
                WHERE {self._one_of(rng, 150, "p_partkey")}""",
            f"""UPDATE part SET p_name = 'forest green {name}',
                                {", ".join(f"{c} = {self._in_turn('p_partkey', values)}" for c, *values in PACKS)}
                WHERE {self._one_of(rng, 150, "p_partkey")}""",
            f"""UPDATE supplier SET s_nationkey = {rng.choice(NATIONS)}, s_acctbal = s_acctbal + 10
                WHERE {self._one_of(rng, 100, "s_suppkey")}""",
            f"""UPDATE supplier SET s_address = concat(s_address, 'x'), s_comment = '{opinion}'
                WHERE s_nationkey = {rng.choice(NATIONS)} AND {self._one_of(rng, 2, "s_suppkey")}""",
            f"""UPDATE partsupp SET ps_supplycost = ps_supplycost * 0.5, ps_availqty = {rng.randint(1, 60)}
                WHERE {self._picked(rng, 100, "ps_partkey")}""",
        )

    def _another_customer(self, rng: Random) -> str:
        return f"(o_custkey + {rng.randint(1, 50)}) % {self._sized(CUSTOMERS)} + 1"

    def _supplier_of(self, part: str, which: int) -> str:
        """One of the four suppliers that the specification gives to a part."""
        many = self._sized(SUPPLIERS)
        return f"({part} + {which} * ({many // 4} + ({part} - 1) DIV {many})) % {many} + 1"

    def _sized(self, full: int) -> int:
        return round(full * self.scale)

    def _on_busy_days(self, rng: Random) -> str:
        days = " OR ".join(_two_days(rng, begin) for begin in BUSY_DAYS)
        return days if self.rarely == 1 else f"({days}) AND l_orderkey % {self.rarely} = 0"

    def _go(self, rng: Random) -> Transaction:
        """Orders with all their lines."""
        some = self._picked(rng, 300, "{0}_orderkey")
        return (f"DELETE FROM lineitem WHERE {some.format('l')}", f"DELETE FROM orders WHERE {some.format('o')}")

    def _picked(self, rng: Random, one_of: int, *key: str) -> str:
        """A condition that holds for one of so many rows."""
        return f"pmod(hash({', '.join(key)}, {rng.randrange(2**31)}), {one_of * self.rarely}) = 0"

    def _one_of(self, rng: Random, many: int, key: str) -> str:
        """The same by the key itself."""
        return f"{key} % {many * self.rarely} = {rng.randint(0, many - 1)}"

    def _in_turn(self, key: str, values: Sequence[object]) -> str:
        """One of the values for each picked row.

        >>> Changes(0.01, 1)._in_turn("id", ("a", "b"))
        "element_at(array('a', 'b'), CAST(id DIV 150 % 2 AS INT) + 1)"
        """
        turn = f"CAST({key} DIV {150 * self.rarely} % {len(values)} AS INT) + 1"
        return f"element_at(array({', '.join(map(repr, values))}), {turn})"


def _two_days(rng: Random, begin: str) -> str:
    first = f"DATE '{begin}' + {rng.randint(0, 24)}"
    return f"l_shipdate BETWEEN {first} AND {first} + 1"
