"""What happens in the shop: one transaction after the other, drawn at random."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from random import Random
from typing import Any

from ...output import counted
from .shop import CATEGORIES, CITIES, PRODUCTS, STEPS

Row = dict[str, Any]


@dataclass(frozen=True)
class Deed:
    """Rows that come to a table, or a statement; and what that does in a word or two."""

    said: str
    statement: str = ""
    table: str = ""
    rows: tuple[Row, ...] = ()


@dataclass
class Traffic:
    """Draws transactions; knows which ids are given out, not what the tables hold."""

    rng: Random
    customers: int
    orders: int
    clicks: int
    recent: list[int] = field(default_factory=list)
    """Customers who were here lately."""

    def transaction(self, now: datetime | None = None) -> list[Deed]:
        """A visit, an order or three, and now and then something that is corrected, moved or taken back."""
        at = (now or datetime.now(UTC)).replace(microsecond=0)
        rare = (self._shipped, self._declined, self._renewed, self._moved, self._joined, self._withdrew)
        deeds = [self._clicked(at), self._ordered(at)]
        return [*deeds, self.rng.choice(rare)()] if self.rng.random() < 0.4 else deeds

    def _visitor(self) -> int:
        who = self.rng.choice(self.recent) if self.recent and self.rng.random() < 0.5 else self._anybody()
        self.recent = [*self.recent[-20:], who]
        return who

    def _anybody(self) -> int:
        return self.rng.randint(1, self.customers)

    def _clicked(self, at: datetime) -> Deed:
        who = self._visitor()
        rows = tuple(self._click(who, at) for _ in range(self.rng.randint(1, 6)))
        return Deed(f"+{counted(len(rows), 'click')}", table="clicks", rows=rows)

    def _click(self, who: int, at: datetime) -> Row:
        self.clicks += 1
        step = self.rng.choices(STEPS, (60, 20, 12, 8))[0]
        return {"id": self.clicks, "customer_id": who, "product_id": self._product(), "seen_at": at, "step": step}

    def _ordered(self, at: datetime) -> Deed:
        rows = tuple(self._order(at) for _ in range(self.rng.randint(1, 3)))
        return Deed(f"+{counted(len(rows), 'order')}", table="orders", rows=rows)

    def _order(self, at: datetime) -> Row:
        self.orders += 1
        return {
            "id": self.orders,
            "customer_id": self._visitor(),
            "product_id": self._product(),
            "placed_at": at,
            "quantity": self.rng.randint(1, 3),
            "amount": Decimal(self.rng.randint(300, 60000)).scaleb(-2),
            "status": "declined" if self.rng.random() < 0.1 else "paid",
        }

    def _product(self) -> int:
        return self.rng.randint(1, PRODUCTS)

    def _late_order(self) -> int:
        return self.rng.randint(max(1, self.orders - 200), self.orders)

    def _shipped(self) -> Deed:
        return Deed("1 order shipped", f"UPDATE orders SET status = 'shipped' WHERE id = {self._late_order()}")

    def _declined(self) -> Deed:
        return Deed("1 order declined", f"UPDATE orders SET status = 'declined' WHERE id = {self._late_order()}")

    def _withdrew(self) -> Deed:
        return Deed("1 order taken back", f"DELETE FROM orders WHERE id = {self._late_order()}")

    def _renewed(self) -> Deed:
        category = self.rng.choice(CATEGORIES)
        change = f"category = '{category}', price = price * 1.05"
        return Deed("1 product moved", f"UPDATE products SET {change} WHERE id = {self._product()}")

    def _moved(self) -> Deed:
        city = self.rng.choice([c for c in CITIES if c])
        return Deed("1 customer moved", f"UPDATE customers SET city = '{city}' WHERE id = {self._anybody()}")

    def _joined(self) -> Deed:
        self.customers += 1
        row = {"id": self.customers, "name": f"customer {self.customers}", "city": self.rng.choice(CITIES)}
        return Deed("+1 customer", table="customers", rows=(row,))


def told(deeds: list[Deed]) -> str:
    """
    >>> told([Deed("+2 orders"), Deed("1 order shipped")])
    '+2 orders, 1 order shipped'
    """
    return ", ".join(deed.said for deed in deeds)
