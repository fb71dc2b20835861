"""Python functions as bytes that any session can load, and what tells one from another."""

from __future__ import annotations

import hashlib
import inspect
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType, ModuleType
from typing import Any

from pyspark import cloudpickle

from ..errors import QueryError
from ..execute.functions import PYTHON


def pickled(name: str, function: Callable[..., Any]) -> bytes:
    """The function by value, after the version of Python that can read it."""
    try:
        with _by_value(sys.modules.get(getattr(function, "__module__", "") or "")):
            return PYTHON.encode() + b"\n" + _dumps(function)
    except Exception as error:
        raise QueryError(
            f'function "{name}" cannot be stored',
            detail=f"{type(error).__name__}: {error}",
            hint="let it use modules and plain values only, no sessions, files or locks.",
        ) from error


@contextmanager
def _by_value(module: ModuleType | None) -> Iterator[None]:
    """A function of a user's own module goes whole: other sessions and executors need not have the module."""
    if module is None or module.__name__ in ("__main__", "builtins") or _is_installed(module):
        yield
        return
    cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        cloudpickle.unregister_pickle_by_value(module)  # type: ignore[no-untyped-call]


def _is_installed(module: ModuleType | None) -> bool:
    path = getattr(module, "__file__", None) or ""
    return path.startswith(tuple(sysconfig.get_paths()[p] for p in ("stdlib", "purelib", "platlib")))


def essence(function: Callable[..., Any]) -> str:
    """A digest of what the function does: its code and the values that it refers to, not where it is written."""
    return hashlib.sha256(repr(_facts(function, ())).encode()).hexdigest()


def _facts(value: Any, above: tuple[int, ...]) -> Any:
    if id(value) in above:
        return "itself"
    if isinstance(value, ModuleType):
        return ("module", value.__name__)
    if isinstance(value, set | frozenset):
        return sorted(repr(_facts(v, above)) for v in value)
    if isinstance(value, FunctionType) and not _is_installed(sys.modules.get(value.__module__)):
        return _function_facts(value, (*above, id(value)))
    if inspect.isroutine(value) or inspect.isclass(value):
        return ("named", value.__module__, value.__qualname__)
    return ("value", hashlib.sha256(_dumps(value)).hexdigest())


def _function_facts(function: FunctionType, above: tuple[int, ...]) -> Any:
    found = inspect.getclosurevars(function)
    around = {**found.globals, **found.nonlocals}
    return (
        _code_facts(function.__code__),
        [_facts(v, above) for v in function.__defaults__ or ()],
        sorted((n, _facts(v, above)) for n, v in (function.__kwdefaults__ or {}).items()),
        sorted((n, _facts(v, above)) for n, v in around.items()),
    )


def _code_facts(code: CodeType) -> Any:
    constants = [_code_facts(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return (code.co_code.hex(), constants, code.co_names, code.co_varnames, code.co_freevars)


def _dumps(value: Any) -> bytes:
    return bytes(cloudpickle.dumps(value))  # type: ignore[no-untyped-call]
