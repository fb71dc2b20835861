"""`trickle health` says what `health_check()` and the pages say, and its exit code says how bad it is."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import trickle
from trickle.cli.main import app
from trickle.testing.past import Past

ORDERS = "CREATE TABLE orders (id INT, customer INT)"
QUERY = "SELECT customer FROM orders"
Health = Callable[..., tuple[int, str]]


@pytest.fixture
def past(tmp_path: Path) -> Iterator[Past]:
    with trickle.connect(tmp_path / "shop") as db:
        db.sql(ORDERS)
        yield Past(db)


@pytest.fixture
def command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Health:
    def run(*words: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            app(["--lake", str(tmp_path / "shop"), *words], prog_name="trickle")
        return int(ended.value.code or 0), capsys.readouterr().out

    return run


def stale(past: Past) -> None:
    past.stream("totals", QUERY, "orders", options={"target_lag": "1ms"})
    past.db.sql("ALTER TABLE orders ADD COLUMN paid BOOLEAN")


def suspended(past: Past) -> None:
    past.stream("totals", QUERY, "orders")
    past.db.pause("totals")


def failing(past: Past) -> None:
    past.stream("totals", QUERY, "orders", status="ERROR", last_error="query_error: 'x' is no number")


def blown(past: Past) -> None:
    past.blow(past.stream("totals", QUERY, "orders", options={"fuse": "on"}))


def gated(past: Past) -> None:
    past.stream("totals", QUERY, "orders")
    past.db.gate_source("orders")


def paused(past: Past) -> None:
    past.stream("totals", QUERY, "orders")
    past.db.pause()


def empty(past: Past) -> None:
    past.stream("totals", QUERY, "orders", frontier=None)


@pytest.mark.parametrize(
    ("made", "check", "level"),
    [
        (stale, "lag", "critical"),
        (suspended, "suspended", "critical"),
        (failing, "errors", "critical"),
        (blown, "fuses", "critical"),
        (gated, "holds", "warning"),
        (paused, "scheduler", "warning"),
        (empty, "empty", "warning"),
    ],
)
def test_command_checks_and_exit_code_agree(
    past: Past, command: Health, made: Callable[[Past], None], check: str, level: str
) -> None:
    made(past)
    told = {c.check: c.status for c in past.db.health_check() if c.status != "ok"}
    assert told[check] == level == past.db.quick_health().status
    code, printed = command("health", "--json")
    found = json.loads(printed)
    assert {f["check"]: f["status"] for f in found} == told and all(f["remedy"] for f in found)
    assert code == (1 if level == "critical" else 0)
    assert command("health", "--strict")[0] == 1
    code, printed = command("health", "totals")
    assert "all is well" not in printed and printed.count("  try:    trickle ") == len(found)


def test_a_lake_without_anything_wrong_is_well(past: Past, command: Health) -> None:
    assert command("health", "--strict") == (0, "all is well: 0 stream tables\n")
    assert command("health", "--json") == (0, "[]\n")


@pytest.mark.parametrize("name", ["my totals", "a.b", "it's", "back`quote", "select"])
def test_the_command_that_health_names_can_be_typed(past: Past, command: Health, name: str) -> None:
    past.stream(name, QUERY, "orders")
    past.stream("other", QUERY, "orders")
    past.db.pause("`" + name.replace("`", "``") + "`")
    for asked in ("health", "diagnose"):
        _, printed = command(asked)
        [line] = [line for line in printed.splitlines() if "resume" in line and "try:" in line]
        words = shlex.split(line.partition("try:")[2])
        assert words[0] == "trickle"
    assert command(*words[1:])[0] == 0
    assert {s.name: s.status for s in past.db.stream_table_status()} == {name: "ACTIVE", "other": "ACTIVE"}
