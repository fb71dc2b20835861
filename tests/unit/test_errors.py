"""The tree of errors: drawn, coded, documented."""

from __future__ import annotations

import inspect
import re

import pytest

from trickle import errors
from trickle.cli.exit_codes import MEANINGS, ExitCode, exit_code
from trickle.errors import TrickleError

KINDS = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, TrickleError)]


def drawn_tree() -> dict[str, str | None]:
    """Name → name of its base, as the docstring of errors.py draws it."""
    bases: dict[str, str | None] = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"^    ((?:[│ ]   )*)(?:[├└]── )?([A-Z]\w+)(?:\s|$)", line)
        if found:
            depth = len(found[1]) // 4 + ("──" in line)
            path[depth:] = [found[2]]
            bases[found[2]] = path[depth - 1] if depth else None
    return bases


def test_the_tree_is_drawn_as_it_is() -> None:
    real = {kind.__name__: kind.__base__.__name__ if kind is not TrickleError else None for kind in KINDS}
    assert drawn_tree() == real


def test_codes_are_unique_and_follow_the_names() -> None:
    codes = {kind.code: kind.__name__ for kind in KINDS}
    assert len(codes) == len(KINDS)
    for code, name in codes.items():
        assert code == re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
def test_an_error_says_what_why_and_what_to_do(kind: type[TrickleError]) -> None:
    error = kind("it failed", detail="because", hint="do this")
    assert str(error) == "it failed\ndetail: because\nhint: do this"
    assert str(kind("it failed")) == f"it failed\nhint: {kind.usual_hint}"


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (errors.QueryError, ExitCode.FAILED),
        (errors.NotFound, ExitCode.FAILED),
        (errors.ConfigError, ExitCode.USAGE),
        (errors.JavaMissing, ExitCode.ENVIRONMENT),
        (errors.StorageError, ExitCode.ENVIRONMENT),
        (errors.CommitConflict, ExitCode.CONFLICT),
    ],
)
def test_an_error_becomes_an_exit_code(kind: type[TrickleError], code: ExitCode) -> None:
    assert exit_code(kind("it failed")) is code


def test_every_exit_code_has_a_meaning() -> None:
    assert set(MEANINGS) == set(ExitCode)
