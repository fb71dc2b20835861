"""Where the catalog of a lake is, by what users say: a directory, a catalog file or a URL. No Spark, no files read."""

from __future__ import annotations

import os
from pathlib import Path

from ..config import Settings
from ..errors import ConfigError, NotFound
from .catalog import Catalog

CATALOG_FILE = "catalog.sqlite"
_POSTGRES = ("postgresql://", "postgres://", "postgresql+psycopg://")


def is_postgres(location: str) -> bool:
    return location.startswith(_POSTGRES)


def catalog_file(location: str) -> Path:
    """The file that holds, or will hold, the catalog of an embedded lake."""
    if "://" in location and not location.startswith(("file://", "sqlite://")):
        raise ConfigError(
            f'"{location}" is no place for a lake',
            hint="give a directory, a catalog file or a postgresql:// URL.",
        )
    path = Path(location.removeprefix("file://").removeprefix("sqlite:///")).expanduser().absolute()
    return path if path.is_file() or path.suffix in (".sqlite", ".ducklake", ".db") else path / CATALOG_FILE


def catalog_at(location: str | os.PathLike[str], settings: Settings) -> Catalog:
    """The catalog at that place, whether a lake is in it or not."""
    text, patience = os.fspath(location), settings["catalog.lock_timeout_seconds"]
    if is_postgres(text):
        return Catalog.postgres(text, settings["catalog.schema"], patience)
    return Catalog.sqlite(catalog_file(text), patience)


def lake_exists(location: str | os.PathLike[str], settings: Settings) -> bool:
    """Whether a lake is there already; nothing is created."""
    text = os.fspath(location)
    if not is_postgres(text):
        return catalog_file(text).is_file()
    catalog = catalog_at(text, settings)
    try:
        return catalog.has_lake()
    finally:
        catalog.close()


def require_lake(location: str | os.PathLike[str], settings: Settings) -> None:
    """A word on how to make one where there is none."""
    if not lake_exists(location, settings):
        raise NotFound(
            f'there is no lake at "{location}"',
            hint=f"create one with `trickle --lake {location} init`, or name another with --lake.",
        )
