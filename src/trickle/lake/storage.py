"""Where data files live: joining, listing, opening and removing them, on a local disk or a remote store."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from pyarrow import fs

from .foreign import translated

# What java.net.URI leaves alone in a path; letters outside ASCII stay as they are.
_URI_SAFE = "/@,;:$&+=_-!.~'()*"


@dataclass(frozen=True)
class StoredFile:
    path: str
    bytes: int
    modified: float


def is_local(path: str) -> bool:
    return "://" not in path or path.startswith("file://")


def spark_uri(path: str) -> str:
    """The path as Spark's `_metadata.file_path` spells it.

    >>> spark_uri("/data/a b/x#1.parquet")
    'file:/data/a%20b/x%231.parquet'
    """
    if "://" in path and not path.startswith("file://"):
        return path
    bare = path.removeprefix("file://")
    return "file:" + "".join(c if ord(c) > 127 else quote(c, safe=_URI_SAFE) for c in bare)


def normal(data_path: str) -> str:
    """An absolute data path that ends with a slash."""
    if is_local(data_path):
        return os.path.abspath(data_path.removeprefix("file://")) + "/"
    return data_path.rstrip("/") + "/"


@dataclass(frozen=True)
class Storage:
    """The folder that holds a lake's files."""

    root: str

    def filesystem(self, path: str) -> tuple[fs.FileSystem, str]:
        if is_local(path):
            return fs.LocalFileSystem(), path.removeprefix("file://")
        system, bare = fs.FileSystem.from_uri(re.sub(r"^s3[an]://", "s3://", path))
        return system, bare

    def make_root(self) -> None:
        if is_local(self.root):
            with translated(f'data path "{self.root}"'):
                Path(self.root).mkdir(parents=True, exist_ok=True)

    def new_folder(self, table_path: str) -> str:
        """A fresh folder for one Spark write; `trickle-` marks files whose fields carry ids."""
        return f"{table_path}trickle-{uuid.uuid4()}/"

    def new_file(self, table_path: str, suffix: str = "") -> str:
        path = f"{table_path}trickle-{uuid.uuid4()}{suffix}.parquet"
        if is_local(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def relative(self, path: str, home: str) -> tuple[str, bool]:
        """How the catalog stores a path: relative to its table's folder where it lies inside."""
        return (path[len(home) :], True) if path.startswith(home) else (path, False)

    def parquet_files(self, folder: str) -> list[StoredFile]:
        """The Parquet files below a folder, hidden ones left out."""
        return [f for f in self.walk(folder) if f.path.endswith(".parquet")]

    def walk(self, folder: str, hidden: bool = False) -> Iterator[StoredFile]:
        system, bare = self.filesystem(folder)
        prefix = folder[: len(folder) - len(bare)] if folder.endswith(bare) else ""
        for info in system.get_file_info(fs.FileSelector(bare, recursive=True, allow_not_found=True)):
            if info.type == fs.FileType.File and (hidden or not info.base_name.startswith((".", "_"))):
                yield StoredFile(prefix + info.path, info.size, info.mtime_ns / 1e9 if info.mtime_ns else 0.0)

    def remove(self, path: str) -> bool:
        """Remove one file and, on a local disk, its checksum file and folders left empty; False if it was gone."""
        system, bare = self.filesystem(path)
        try:
            system.delete_file(bare)
        except FileNotFoundError:
            return False
        if is_local(path):
            self._tidy(Path(bare))
        return True

    def _tidy(self, removed: Path) -> None:
        removed.with_name(f".{removed.name}.crc").unlink(missing_ok=True)
        root = Path(self.root.removeprefix("file://"))
        folder = removed.parent
        while folder != root and folder.name.startswith(("trickle-", "__p")):
            try:
                folder.rmdir()
            except OSError:
                return
            folder = folder.parent

    def remove_folder(self, folder: str) -> None:
        system, bare = self.filesystem(folder)
        if system.get_file_info(bare.rstrip("/")).type != fs.FileType.NotFound:
            system.delete_dir(bare.rstrip("/"))
