"""Settings: defaults, types, ranges, and where values come from."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trickle.config import SETTINGS, Setting, Settings, lookup
from trickle.errors import ConfigError


def test_names_are_unique_and_have_a_room() -> None:
    names = [s.name for s in SETTINGS]
    assert len(names) == len(set(names))
    assert all("." in name for name in names)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: s.name)
def test_a_default_is_within_its_own_range(setting: Setting) -> None:
    assert setting.read(setting.default) == setting.default
    assert setting.read(str(setting.default)) == setting.default
    assert setting.meaning.endswith(".")


@pytest.mark.parametrize("setting", [s for s in SETTINGS if s.low is not None], ids=lambda s: s.name)
def test_a_value_out_of_range_is_refused_with_the_range(setting: Setting) -> None:
    assert setting.low is not None and setting.high is not None
    for value in (setting.low - 1, setting.high + 1):
        with pytest.raises(ConfigError) as caught:
            setting.read(value)
        assert setting.name in caught.value.message
        assert setting.range in caught.value.hint


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("lake.small_write_rows", "many"),
        ("lake.small_write_rows", 1.5),
        ("lake.small_write_rows", True),
        ("lake.small_write_rows", None),
        ("lake.compression", "lzma"),
        ("maintenance.delete_ratio", "nan"),
        ("catalog.lock_timeout_seconds", "nan"),
    ],
)
def test_a_value_of_another_kind_is_refused(name: str, value: Any) -> None:
    with pytest.raises(ConfigError):
        Settings.of({name: value})


def test_true_and_false_are_read_from_text() -> None:
    switch = Setting("test.switch", False, "A switch.")
    assert switch.read("TRUE") is True
    assert switch.read("false") is False
    with pytest.raises(ConfigError):
        switch.read("yes")


def test_later_layers_win() -> None:
    chosen = Settings.of({"lake.commit_retries": 1, "lake.target_file_mb": 64}, {"lake.commit_retries": "2"})
    assert chosen["lake.commit_retries"] == 2
    assert chosen["lake.target_file_mb"] == 64
    assert chosen["lake.compression"] == lookup("lake.compression").default
    assert set(chosen) == {s.name for s in SETTINGS} and len(chosen) == len(SETTINGS)


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="unknown setting") as caught:
        Settings.of({"lake.comit_retries": 1})
    assert "lake.commit_retries" in caught.value.hint
    with pytest.raises(ConfigError):
        _ = Settings.of()["no.such"]


@given(st.integers(1, 16384))
def test_a_number_and_its_text_read_alike(value: int) -> None:
    setting = lookup("lake.target_file_mb")
    assert setting.read(value) == setting.read(str(value)) == setting.read(float(value)) == value
