"""Places for lakes, one for each kind of catalog, that both engines can open."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import trickle
from trickle.testing.duckdb_peer import LakeAddress

CATALOG_SCHEMA = "lake1"


@dataclass(frozen=True)
class LakeSite:
    """Where a lake is, or will be, and how to open it with Trickle or (by `address`) with DuckDB."""

    target: str
    data: Path
    address: LakeAddress
    settings: dict[str, Any] = field(default_factory=dict)

    def connect(self, spark: SparkSession | None, **settings: Any) -> trickle.Session:
        """Open the lake, which is created if absent. Settings are written with `__` for the dot."""
        given = {name.replace("__", "."): value for name, value in settings.items()}
        data_path = str(self.data) if self.address.on_postgres else None
        return trickle.connect(self.target, data_path=data_path, spark=spark, settings=self.settings | given)

    def order(self) -> dict[str, Any]:
        """How another process opens the lake, as plain values."""
        data_path = str(self.data) if self.address.on_postgres else None
        return {"target": self.target, "data_path": data_path, "settings": self.settings}

    def files(self) -> set[Path]:
        """Every file under the data path."""
        return {path for path in self.data.rglob("*") if path.is_file()}


def sqlite_site(directory: Path) -> LakeSite:
    data = directory / "data"
    return LakeSite(str(directory), data, LakeAddress(str(directory / "catalog.sqlite"), f"{data}/"))


def postgres_site(url: str, directory: Path) -> LakeSite:
    data = directory / "data"
    data.mkdir(parents=True)
    address = LakeAddress(url, f"{data}/", CATALOG_SCHEMA)
    return LakeSite(url, data, address, {"catalog.schema": CATALOG_SCHEMA})
