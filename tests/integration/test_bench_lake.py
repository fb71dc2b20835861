"""The benchmarks of the lake run at a small scale and say something of every target."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from click.testing import Result
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from trickle.cli.main import app
from trickle.testing.bench import LAKE, Contest, arena, hold, run

SCALE = 0.001


@pytest.mark.parametrize("name", LAKE)
def test_every_benchmark_reports_finite_figures_and_leaves_nothing_behind(
    name: str, spark: SparkSession, tmp_path: Path
) -> None:
    with arena(SCALE, str(tmp_path), spark) as place:
        results = list(run([LAKE[name]], place, rounds=1))
    assert results
    for result in results:
        assert math.isfinite(result.figure) and result.figure > 0
        assert result.met == (result.figure <= result.target)
    assert list(tmp_path.iterdir()) == []


def test_the_two_ways_take_turns_and_warm_ups_do_not_count() -> None:
    turns: list[str] = []
    contest = Contest(
        "turns",
        1.0,
        ours=lambda: turns.append("ours"),
        plain=lambda: turns.append("plain"),
        rounds=2,
        warmups=1,
        between=lambda: turns.append("-"),
    )
    result = hold(contest)
    assert turns == ["ours", "-", "plain", "-"] * 3
    assert result.plain is not None
    assert (len(result.ours.rounds), len(result.plain.rounds)) == (2, 2)


def test_the_command_prints_facts(spark: SparkSession, tmp_path: Path) -> None:
    said = bench("--only", "prune-files", "--scale", str(SCALE), "--rounds", "1", "--in", str(tmp_path), "--json")
    assert said.exit_code == 0, said.output
    assert [fact["unit"] for fact in json.loads(said.stdout)] == ["ms", "ms"]


def test_a_missed_target_fails_only_where_it_is_checked(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LAKE, "never", lambda _: iter([Contest("faster than nothing", 0.0, ours=lambda: None)]))
    asked = ("--only", "never", "--in", str(tmp_path))
    assert bench(*asked).exit_code == 0
    checked = bench(*asked, "--check")
    assert checked.exit_code == 1
    assert "missed" in checked.stdout


def test_an_unknown_benchmark_is_refused() -> None:
    assert bench("--only", "nothing").exit_code == 2


def bench(*asked: str) -> Result:
    return CliRunner().invoke(app, ["--verbose", "bench", "lake", *asked])
