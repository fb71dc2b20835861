"""`trickle.toml`: found, read, refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from trickle.errors import ConfigError
from trickle.project import PROJECT_FILE, Project, find_project, read_project_file


def test_without_a_file_the_current_directory_is_the_lake(tmp_path: Path) -> None:
    assert find_project(tmp_path) == Project(lake=".")


def test_the_nearest_file_above_is_found_and_its_paths_are_relative_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / PROJECT_FILE).write_text('lake = "shop"\nstreams = "defs"\n')
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    found = find_project()
    assert (Path(found.lake), Path(found.streams)) == (tmp_path / "shop", tmp_path / "defs")
    monkeypatch.chdir(tmp_path)
    assert find_project().lake == "shop"


def test_nested_settings_are_joined_by_dots(tmp_path: Path) -> None:
    file = tmp_path / PROJECT_FILE
    file.write_text(
        'lake = "postgresql://db/lake"\n[settings]\n"lake.compression" = "gzip"\n[settings.spark]\nmaster = "x"'
    )
    found = read_project_file(file)
    assert found.settings == {"lake.compression": "gzip", "spark.master": "x"}
    assert found.lake == "postgresql://db/lake"


@pytest.mark.parametrize(
    ("text", "message"),
    [("[settings\n", "not valid TOML"), ('lak = "shop"\n', 'unknown key "lak"'), ("lake = 7\n", "no text")],
)
def test_a_wrong_file_is_named(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / PROJECT_FILE
    file.write_text(text)
    with pytest.raises(ConfigError, match=message) as caught:
        read_project_file(file)
    assert PROJECT_FILE in caught.value.message and caught.value.hint
