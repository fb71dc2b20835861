"""What the parts of the registry have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod

from sqlalchemy import Connection

from .tables import RegistryTables


class Part(ABC):
    """Some of what the registry says, on a connection of the catalog."""

    tables: RegistryTables

    @abstractmethod
    def exists(self, connection: Connection) -> bool:
        """Whether the lake has a registry yet."""

    @abstractmethod
    def version(self, connection: Connection) -> int:
        """Of the registry; 0 if there is none."""
