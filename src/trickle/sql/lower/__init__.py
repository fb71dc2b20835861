"""From the text of a query to its plan."""

from __future__ import annotations

from trickle.sql.lower.context import Schemas, Views
from trickle.sql.lower.functions import Volatile, Volatility
from trickle.sql.lower.query import Query, lower

__all__ = ["Query", "Schemas", "Views", "Volatile", "Volatility", "lower"]
