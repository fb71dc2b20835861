"""The catalog rows of a commit: definitions first, then files, deletes and statistics."""

from __future__ import annotations

from .definitions import DefinitionEntries
from .files import FileEntries
from .rows import folder_of, quoted

__all__ = ["DefinitionEntries", "FileEntries", "folder_of", "quoted"]
