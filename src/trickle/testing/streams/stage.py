"""A lake on which small stories are told: a change, a refresh, the rows that must be there."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import trickle
from trickle.refresh.result import RefreshResult
from trickle.testing.rows import columns_of


@dataclass(frozen=True)
class Stage:
    db: trickle.Session

    def stream(self, name: str, query: str, **options: Any) -> None:
        """A stream table that must be differential."""
        self.db.create_stream_table(name, query, **{"refresh_mode": "DIFFERENTIAL", **options})

    def change(self, *statements: str) -> None:
        """All of them in one transaction."""
        with self.db.transaction():
            for statement in statements:
                self.db.sql(statement)

    def refresh(self, name: str) -> RefreshResult:
        """The refresh of a change must be differential."""
        result = self.db.refresh_stream_table(name)
        assert (result.action, result.reason) == ("DIFFERENTIAL", ""), result
        return result

    def refreshed(self, name: str) -> list[tuple[Any, ...]]:
        """Refresh, and the rows then."""
        self.refresh(name)
        return self.rows(name)

    def rows(self, name: str) -> list[tuple[Any, ...]]:
        """The rows in some fixed order."""
        table = self.db.table(name).toArrow()
        return sorted((tuple(row.values()) for row in table.to_pylist()), key=repr)

    def agrees(self, name: str, query: str) -> None:
        """The stream table is what its query gives now."""
        held, wanted = self.db.table(name).toArrow(), self.db.sql(query).toArrow()
        assert columns_of(held.schema) == columns_of(wanted.schema), name
        counted = [Counter(map(repr, table.to_pylist())) for table in (held, wanted)]
        assert counted[0] == counted[1], name


def in_order(*rows: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Expected rows in the order of `Stage.rows`."""
    return sorted(rows, key=repr)
