"""What is declared, and what is known of the changes of one refresh."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reference:
    """A foreign key to a primary key, both to be relied upon: child.columns → parent.key."""

    name: str
    child: str
    columns: tuple[str, ...]
    parent: str
    key: tuple[str, ...]

    def __str__(self) -> str:
        """
        >>> str(Reference("fk", "main.orders", ("cust",), "main.customers", ("id",)))
        'main.orders (cust) → main.customers (id)'
        """
        return f"{self.child} ({', '.join(self.columns)}) → {self.parent} ({', '.join(self.key)})"


@dataclass(frozen=True)
class Declared:
    """References between tables, by the names plans know them by, and how those tables changed."""

    references: tuple[Reference, ...] = ()
    unchanged: frozenset[str] = frozenset()
    gained: frozenset[str] = frozenset()
    """Tables that only gained rows."""
    lost: frozenset[str] = frozenset()
    """Tables that only lost rows."""
    split: frozenset[str] = frozenset()
    """Referenced tables that did both, and whose net change can be read in parts: `updated` and `gone`."""

    def __bool__(self) -> bool:
        """Is there anything to be won?"""
        return any(r.parent in self.gained | self.lost | self.split for r in self.references)


NOTHING = Declared()


def updated(table: str) -> str:
    """The relation of changed rows whose key both came and went."""
    return f"{table} updated"


def gone(table: str) -> str:
    """The relation of rows whose key went and did not come back."""
    return f"{table} gone"
