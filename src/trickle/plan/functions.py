"""Functions that users define: what a lake knows of each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from trickle.plan.names import hidden


class Kind(Enum):
    SQL = "SQL"
    """An expression over its parameters: calls are written out."""
    PYTHON = "PYTHON"
    """Called once for each row."""
    AGGREGATE = "PYTHON AGGREGATE"
    """Called once for each group, with a column of values for each argument."""


@dataclass(frozen=True)
class Parameter:
    name: str
    type: str
    """As Spark writes it; empty where Python does not say."""


@dataclass(frozen=True)
class Function:
    """A function under its name, which is kept in lower case."""

    name: str
    kind: Kind
    parameters: tuple[Parameter, ...]
    returns: str
    body: str
    """The expression; of a Python function its source, where that is at hand."""
    deterministic: bool
    calls: tuple[str, ...] = ()
    """Functions of the lake that the expression calls."""
    code: bytes = b""
    """The Python function, pickled."""
    hash: str = ""
    """Differs when the function may answer differently."""

    @property
    def engine_name(self) -> str:
        """The name it is registered under with Spark: two lakes that share a session do not meet."""
        return hidden(f"{self.name}_{self.hash}")


Functions = Mapping[str, Function]
"""By name; with each function those that it calls."""


def hash_of(function: Function, essence: str) -> str:
    """The hash of a function whose body comes down to `essence`."""
    parameters = [(p.name, p.type) for p in function.parameters] if function.kind is Kind.SQL else []
    facts = [function.kind.value, parameters, function.returns, function.deterministic, essence]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]
