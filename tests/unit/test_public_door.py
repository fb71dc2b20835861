"""What `import trickle` gives, and nothing else."""

from __future__ import annotations

import importlib
import inspect

import pytest

import trickle
from trickle import errors


def test_every_name_of_the_door_is_there() -> None:
    assert all(getattr(trickle, name) is not None for name in trickle.__all__)


def test_the_door_is_sorted_and_has_no_name_twice() -> None:
    assert list(trickle.__all__) == sorted(set(trickle.__all__), key=lambda n: (not n[0].isupper(), n))


def test_every_error_goes_through_the_door() -> None:
    kinds = {
        name for name, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.TrickleError)
    }
    assert kinds <= set(trickle.__all__)


def test_a_star_import_brings_the_door_and_no_more() -> None:
    names: dict[str, object] = {}
    exec("from trickle import *", names)
    assert set(names) - {"__builtins__"} == set(trickle.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'conect'"):
        _ = importlib.import_module("trickle").conect


def test_everything_public_of_a_session_says_what_it_is_for() -> None:
    members = {n: m for n, m in inspect.getmembers(trickle.Session) if not n.startswith("_")}
    assert [n for n, m in members.items() if not inspect.getdoc(m.fget if isinstance(m, property) else m)] == []
