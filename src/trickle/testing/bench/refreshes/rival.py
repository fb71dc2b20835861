"""DuckDB recomputes a query over the same lake and writes the answer: what one machine without Spark would do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ....sql.dialects import spark_to_duckdb
from ...duckdb_peer import DuckDBPeer, LakeAddress, quoted
from ..arena import Arena

_CLOCK = "SELECT epoch_us(get_current_timestamp()) AS at"


@dataclass(frozen=True)
class DuckDBRival:
    peer: DuckDBPeer
    lake: LakeAddress

    def recompute(self, query: str, target: Path) -> float:
        """Milliseconds by DuckDB's own clock: opening the lake does not count. All its optimizers are on."""
        target.parent.mkdir(parents=True, exist_ok=True)
        copy = f"COPY ({spark_to_duckdb(query)}) TO {quoted(str(target))} (FORMAT parquet)"
        _, began, _, ended = self.peer.run(self.lake, "SET disabled_optimizers = ''", _CLOCK, copy, _CLOCK)
        return float(ended.column("at")[0].as_py() - began.column("at")[0].as_py()) / 1000


@contextmanager
def duckdb_rival(arena: Arena, wanted: bool) -> Iterator[DuckDBRival | None]:
    """Beside the arena's lake, in a process of its own; nothing unless it is wanted."""
    if not wanted:
        yield None
        return
    lake = arena.db.lake
    with DuckDBPeer() as peer:
        yield DuckDBRival(peer, LakeAddress(lake.catalog.label, lake.storage.root))
