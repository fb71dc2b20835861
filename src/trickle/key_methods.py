"""The functions on declared keys, as methods of a session."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from .execute import constraints
from .execute.binding import Binding
from .execute.transaction import Transaction
from .records import Records
from .sql.parse import table_name

T = TypeVar("T")


class KeyMethods:
    """Mixed into `Session`."""

    def _reading(self, work: Callable[[Transaction, Binding], T]) -> T:
        raise NotImplementedError

    def table_constraints(self, table: str | None = None) -> Records[constraints.TableConstraint]:
        """The declared keys of all tables, or of one: columns, what a foreign key references, and RELY."""
        wanted = table_name(table) if table else None
        return self._reading(lambda t, _: constraints.table_constraints(t, wanted))

    def check_keys(self, table: str | None = None) -> Records[constraints.KeyCheck]:
        """Hold every declared key, with and without RELY, against the rows; which keys violate it, a few of them.

        assert all(check.holds for check in db.check_keys())
        """
        wanted = table_name(table) if table else None
        return self._reading(lambda t, _: constraints.check_keys(t, wanted))
