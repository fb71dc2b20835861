"""`trickle.toml`: which lake a project works on, where its definitions lie, and its settings.

lake = "shop"                  # a directory, relative to this file, or a postgresql:// URL
data_path = "s3a://bucket/"    # only where the files do not lie beside the catalog
streams = "streams"            # the folder that `trickle apply` reads

[settings]
"lake.compression" = "gzip"
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .errors import ConfigError, StorageError

PROJECT_FILE = "trickle.toml"
KEYS = ("lake", "data_path", "streams", "settings")
STREAMS = "streams"


@dataclass(frozen=True)
class Project:
    """What a `trickle.toml` says; without one, the current directory is the lake."""

    path: Path | None = None
    lake: str = "."
    data_path: str | None = None
    streams: str = STREAMS
    settings: Mapping[str, Any] = field(default_factory=dict)

    def placed(
        self, location: str | os.PathLike[str] | None, data_path: str | os.PathLike[str] | None
    ) -> tuple[str, str | None]:
        """The lake that was said, or the project's; the project's data path belongs to its own lake alone."""
        where = os.fspath(location) if location is not None else self.lake
        if data_path is not None:
            return where, os.fspath(data_path)
        return where, self.data_path if where == self.lake else None


def find_project(start: str | os.PathLike[str] = ".") -> Project:
    """The `trickle.toml` of a directory or of the nearest one above it."""
    here = Path(start).absolute()
    found = next((p for d in (here, *here.parents) if (p := d / PROJECT_FILE).is_file()), None)
    return read_project_file(found) if found is not None else Project()


def read_project_file(path: str | os.PathLike[str]) -> Project:
    """A `trickle.toml`; its paths are relative to where it lies, nested tables of settings are joined by dots."""
    file = Path(path)
    document = _read(file)
    for key in document:
        if key not in KEYS:
            near = difflib.get_close_matches(key, KEYS, n=1)
            guess = f'did you mean "{near[0]}"?' if near else f"it knows {', '.join(KEYS)}."
            raise ConfigError(f'{file} has an unknown key "{key}"', hint=guess)
    data_path = document.get("data_path")
    return Project(
        file,
        _within(file, document.get("lake", ".")),
        _within(file, data_path) if data_path is not None else None,
        _within(file, document.get("streams", STREAMS)),
        dict(_flatten(document.get("settings", {}))),
    )


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file} is not valid TOML", detail=str(error), hint="mend the line it names.") from None
    except OSError as error:
        raise StorageError(f"{file} cannot be read", detail=str(error), hint="check its permissions.") from error


def _within(file: Path, place: Any) -> str:
    """A path as seen from here, short where that is possible; a URL as it is.

    >>> _within(Path("/srv/shop/trickle.toml"), "postgresql://db/lake")
    'postgresql://db/lake'
    """
    if not isinstance(place, str):
        raise ConfigError(f"{file} names a place that is no text: {place!r}", hint='write it in quotes: lake = "shop".')
    if "://" in place:
        return place
    path = file.parent / Path(place).expanduser()
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _flatten(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
