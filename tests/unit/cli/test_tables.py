"""What people see of rows: nothing wider than their terminal, no word broken that need not be."""

from __future__ import annotations

from datetime import UTC, datetime
from io import StringIO

import pytest
from rich.console import Console

from trickle.cli.faces import HISTORY, LISTED, REFRESHED, STATUS
from trickle.cli.output import TextOutput
from trickle.cli.tables import Rows
from trickle.cli.values import OneLine
from trickle.ops.facts import HistoryRecord, StatusRecord, StreamTableRecord
from trickle.refresh.result import RefreshResult

NOW = datetime.now(UTC)
NAME = "revenue_per_hour"
QUERY = "SELECT date_trunc('hour', placed_at) AS hour,\n  sum(amount) AS revenue\nFROM orders GROUP BY ALL"
FACTS = {
    "list": LISTED.rows(
        [StreamTableRecord(NAME, "main", QUERY, "spark", "DIFFERENTIAL", "SUSPENDED", 123456, 123457, NOW)]
    ),
    "status": STATUS.rows(
        [StatusRecord(NAME, "main", "ACTIVE", "AUTO", "DIFFERENTIAL", 123, 9, NOW, 3.2, "FULL", "initial_load", None)]
    ),
    "history": HISTORY.rows(
        [HistoryRecord(NAME, NOW, NOW, "FULL", "initial_load", 1500, 12, 81_000.0, 123, 124, "user", None)]
    ),
    "refresh": REFRESHED.rows([RefreshResult(NAME, "DIFFERENTIAL", "", 1500, 12, 480.0, 123, 124)]),
}


def lines(rows: Rows, width: int = 80) -> list[str]:
    console = Console(file=StringIO(), width=width, highlight=False, soft_wrap=True)
    TextOutput(console).rows(rows)
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize("command", FACTS)
def test_facts_are_a_table_in_80_columns_with_whole_words(command: str) -> None:
    rows = FACTS[command]
    said = lines(rows)
    assert max(map(len, said)) <= 80
    words = {word for line in said for word in line.split()}
    assert {NAME, *" ".join(rows.columns).split()} <= words, "none is broken"
    assert not said[0].startswith("row 1")


def test_what_does_not_fit_is_a_record_for_each_row() -> None:
    names = [f"column_number_{n}" for n in range(12)]
    said = lines(Rows(names, [tuple(range(12)), tuple(range(12))]))
    assert said[0].startswith("row 1 ─") and said[1].split() == ["column_number_0", "0"]
    assert len([line for line in said if line.startswith("row ")]) == 2
    assert max(map(len, said)) <= 80


def test_prose_is_wrapped_and_one_line_is_cut() -> None:
    prose, cut = "some words " * 20, OneLine("SELECT " * 30)
    said = lines(Rows(["name", "prose", "query"], [("totals", prose.strip(), cut)]))
    assert max(map(len, said)) <= 80 and said[2].count("…") == 1
    assert all(word in ("some", "words") for line in said[3:-1] for word in line.split())


def test_a_pipe_gets_one_line_for_each_row() -> None:
    said = lines(Rows(["name", "prose"], [("totals", "some words " * 20)]), width=10_000)
    assert len(said) == 4
