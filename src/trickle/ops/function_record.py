"""A function of the lake as a fact."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ..records import Record


@dataclass(frozen=True)
class FunctionRecord(Record):
    name: str
    kind: str
    parameters: tuple[str, ...]
    returns: str
    deterministic: bool
    body: str
    version: int
    hash: str
    used_by: tuple[str, ...]
    created_at: datetime

    @property
    def said(self) -> str:
        """In a sentence.

        >>> FunctionRecord("net", "SQL", ("x INT",), "INT", True, "x - 1", 1, "f00", (), datetime(2024, 2, 29)).said
        'function net(x INT) returns INT, deterministic'
        """
        steady = "deterministic" if self.deterministic else "not deterministic"
        return f"function {self.name}({', '.join(self.parameters)}) returns {self.returns}, {steady}"
