"""Disks that refuse: full or read-only. Only root can mount them; permissions alone do not stop root."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class DiskUnavailable(Exception):
    """This user or this machine cannot mount a disk for a test."""


@contextmanager
def small_disk(directory: Path, size: str) -> Iterator[Path]:
    """A disk of that size at `directory`, gone after the block."""
    if os.geteuid() != 0:
        raise DiskUnavailable("only root can mount a small disk")
    directory.mkdir(parents=True)
    _mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(directory))
    try:
        yield directory
    finally:
        subprocess.run(["umount", "--lazy", str(directory)], check=True)


@contextmanager
def read_only(disk: Path) -> Iterator[None]:
    """The mounted disk refuses writes inside the block."""
    _mount("-o", "remount,ro", str(disk))
    try:
        yield
    finally:
        _mount("-o", "remount,rw", str(disk))


def fill(disk: Path, leave: int = 0) -> Path:
    """Take all space but `leave` bytes; removing the returned file gives it back."""
    ballast = disk / "ballast"
    free = os.statvfs(disk)
    with ballast.open("wb") as file:
        file.write(b"\0" * max(0, free.f_bavail * free.f_frsize - leave))
    return ballast


def _mount(*arguments: str) -> None:
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True)
    if done.returncode:
        raise DiskUnavailable(f"mount {' '.join(arguments[:-1])} is refused here: {done.stderr.strip()}")
