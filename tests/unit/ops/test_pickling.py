"""What tells one Python function from another."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from trickle.ops.pickling import essence

RATE = 2


def made(rate: int, source: str = "lambda x: x * rate + 1") -> Callable[..., Any]:
    return eval(source, {"rate": rate, "math": math})  # type: ignore[no-any-return]


def uses_a_global(x: int) -> int:
    return x * RATE


def test_the_same_code_over_the_same_values_is_the_same_wherever_it_stands() -> None:
    assert essence(made(1)) == essence(made(1, "(\n\n  lambda x: x * rate + 1)"))


def test_other_code_constants_values_or_defaults_are_another_function() -> None:
    others = [
        made(1),
        made(2),
        made(1, "lambda x: x * rate + 2"),
        made(1, "lambda x: x + rate + 1"),
        made(1, "lambda x, y=1: x * rate + 1"),
        made(1, "lambda x: math.floor(x)"),
        made(1, "lambda x: math.ceil(x)"),
    ]
    assert len({essence(f) for f in others}) == len(others)


def test_a_function_that_calls_itself_has_an_essence() -> None:
    def down(n: int) -> int:
        return down(n - 1) if n else 0

    assert essence(down) == essence(down)


def test_functions_written_in_c_are_known_by_their_names() -> None:
    assert essence(math.floor) != essence(math.ceil)
    assert essence(uses_a_global) != essence(made(1))
