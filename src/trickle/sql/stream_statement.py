"""Statements on stream tables, and calls of functions, as values."""

from __future__ import annotations

from dataclasses import dataclass

from trickle.errors import QueryError
from trickle.sql.names import Name, distinct

Value = str | int | float | bool | None | tuple["Value", ...]
"""A literal as a Python value; decimals come as float, lists as tuples."""

Options = tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class CreateStreamTable:
    name: Name
    query: str
    options: Options = ()
    if_not_exists: bool = False
    or_replace: bool = False

    def __post_init__(self) -> None:
        distinct((key for key, _ in self.options), f'stream table "{self.name.label}": option')


@dataclass(frozen=True)
class AlterStreamTable:
    """Exactly one of the four forms: SET options, AS query, SUSPEND, RESUME."""

    name: Name
    options: Options = ()
    query: str | None = None
    suspend: bool = False
    resume: bool = False
    if_exists: bool = False

    def __post_init__(self) -> None:
        distinct((key for key, _ in self.options), f'stream table "{self.name.label}": option')
        if sum((bool(self.options), self.query is not None, self.suspend, self.resume)) != 1:
            raise QueryError(f'stream table "{self.name.label}": nothing, or too much, to alter')


@dataclass(frozen=True)
class DropStreamTable:
    name: Name
    if_exists: bool = False
    cascade: bool = False


@dataclass(frozen=True)
class RefreshStreamTable:
    name: Name
    full: bool = False


@dataclass(frozen=True)
class ExplainStreamTable:
    name: Name
    analyze: bool = False


@dataclass(frozen=True)
class FunctionCall:
    """A function of schema `trickle` with literal arguments, from CALL or from FROM."""

    function: str
    args: tuple[Value, ...] = ()
    kwargs: Options = ()

    def __post_init__(self) -> None:
        distinct((key for key, _ in self.kwargs), f"trickle.{self.function}: argument")


@dataclass(frozen=True)
class Call:
    call: FunctionCall

    @property
    def function(self) -> str:
        return self.call.function

    @property
    def args(self) -> tuple[Value, ...]:
        return self.call.args

    @property
    def kwargs(self) -> dict[str, Value]:
        return dict(self.call.kwargs)
