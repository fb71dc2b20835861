"""The forty queries."""

from __future__ import annotations

from trickle.testing.streams.group_queries import GROUP_QUERIES
from trickle.testing.streams.layered_queries import LAYERED_QUERIES, POSTGRES_QUERIES
from trickle.testing.streams.row_queries import ROW_QUERIES

QUERIES = (*ROW_QUERIES, *GROUP_QUERIES, *LAYERED_QUERIES, *POSTGRES_QUERIES)
