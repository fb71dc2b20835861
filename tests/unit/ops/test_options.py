"""Options of a stream table are read strictly."""

from __future__ import annotations

from typing import Any

import pytest

from trickle.errors import ConfigError
from trickle.ops.options import OPTIONS, STORED_OTHERWISE, consistent, read_options, with_defaults


def test_every_option_has_a_default_that_it_accepts() -> None:
    assert read_options({o.name: o.default for o in OPTIONS}) == with_defaults({})


def test_words_are_read_in_any_case_and_lists_from_text() -> None:
    given = {"refresh_mode": "immediate", "source_ddl": "ADAPT", "append_only": "false", "cluster_by": "a, b"}
    assert read_options(given) == {
        "refresh_mode": "IMMEDIATE",
        "source_ddl": "adapt",
        "append_only": False,
        "cluster_by": ["a", "b"],
    }


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"refresh_mod": "AUTO"}, 'did you mean "refresh_mode"'),
        ({"zzz": 1}, "options are schedule"),
        ({"refresh_mode": "SOMETIMES"}, "must be one of AUTO"),
        ({"append_only": "perhaps"}, "must be one of True, False"),
    ],
)
def test_a_wrong_option_is_named_with_what_is_meant(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_options(given)
    assert said in refused.value.hint


@pytest.mark.parametrize("mode", ["FULL", "IMMEDIATE"])
def test_append_only_needs_a_mode_that_can_end_it(mode: str) -> None:
    with pytest.raises(ConfigError, match=mode):
        with_defaults({"append_only": True, "refresh_mode": mode})
    assert consistent(with_defaults({"append_only": True}))["append_only"] is True


def test_options_that_change_what_is_stored_are_options() -> None:
    assert set(STORED_OTHERWISE) < {o.name for o in OPTIONS}
