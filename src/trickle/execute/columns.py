"""Columns of a table by the names that statements give them."""

from __future__ import annotations

from ..errors import NotFound
from ..lake.model import Column, Table


def require_column(table: Table, name: str) -> Column:
    found = table.column(name)
    if found is None:
        known = ", ".join(c.name for c in table.columns)
        raise NotFound(f'table "{table.label}" has no column "{name}"', hint=f"its columns are {known}.")
    return found
