"""Names of tables and columns, and how they are quoted and compared."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from trickle.errors import QueryError

_PLAIN = re.compile(r"[^\W\d]\w*")


def quote_spark(identifier: str) -> str:
    """One identifier in backquotes, whatever it holds.

    >>> quote_spark("x`; DROP TABLE y")
    '`x``; DROP TABLE y`'
    """
    return "`" + identifier.replace("`", "``") + "`"


def distinct(names: Iterable[str], what: str) -> None:
    """Raises when two names are equal without regard to case, as Spark compares them."""
    seen: set[str] = set()
    for name in names:
        if name.casefold() in seen:
            raise QueryError(f'{what} "{name}" is named twice', hint="names are compared without case")
        seen.add(name.casefold())


@dataclass(frozen=True)
class Name:
    """The name of a table, view or function, with its schema where one was written.

    >>> Name("main", "my orders").quote_spark()
    '`main`.`my orders`'
    """

    schema: str | None
    name: str

    def __post_init__(self) -> None:
        for part in (self.schema, self.name):
            if part is not None and (not part.strip() or "\0" in part):
                raise QueryError("a name is empty" if not part.strip() else "a name holds a NUL character")

    @property
    def label(self) -> str:
        return f"{self.schema}.{self.name}" if self.schema is not None else self.name

    def quote_spark(self) -> str:
        parts = (self.schema, self.name) if self.schema is not None else (self.name,)
        return ".".join(map(quote_spark, parts))

    @property
    def written(self) -> str:
        """As SQL and commands take it back: quoted only where it must be.

        >>> Name("sales", "my orders").written, Name(None, "orders").written
        ('sales.`my orders`', 'orders')
        """
        parts = (self.schema, self.name) if self.schema is not None else (self.name,)
        return ".".join(part if _PLAIN.fullmatch(part) else quote_spark(part) for part in parts)

    def within(self, schema: str) -> Name:
        """The same name, its schema filled in where none was written."""
        return self if self.schema is not None else Name(schema, self.name)
