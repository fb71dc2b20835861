"""The interactive shell of `trickle sql`, typed at through a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from pyspark.sql import SparkSession

import trickle
from trickle.cli.options import Options
from trickle.cli.shell.shell import Shell
from trickle.cli.shell.words import Words

pytestmark = pytest.mark.spark
Typed = Callable[[str], tuple[str, str]]


@pytest.fixture
def db(tmp_path: Path, spark: SparkSession) -> Iterator[trickle.Session]:
    with trickle.connect(tmp_path / "lake", spark=spark) as session:
        session.sql("CREATE TABLE orders (id INT, amount INT)")
        yield session


@pytest.fixture
def shell(db: trickle.Session, capsys: pytest.CaptureFixture[str]) -> Typed:
    def run(typed: str) -> tuple[str, str]:
        with create_pipe_input() as keyboard:
            keyboard.send_text(typed)
            Shell(Options(), db, history=InMemoryHistory(), keyboard=keyboard, screen=DummyOutput()).run()
        found = capsys.readouterr()
        return found.out, found.err

    return run


def test_a_statement_ends_with_a_semicolon_and_may_have_lines(shell: Typed) -> None:
    out, err = shell("INSERT INTO orders\nVALUES (1, 5),\n(2, 7);\nSELECT sum(amount) AS total FROM orders;\n\\q\n")
    assert "2 rows, snapshot 2" in out and "12" in out and err == ""


def test_an_error_is_told_and_the_shell_goes_on(shell: Typed) -> None:
    out, err = shell("SELECT nothing FROM orders;\n\\f json\nSELECT 1 AS one;\nexit\n")
    assert "error: " in err and "hint: " in err
    assert '[{"one": 1}]' in out


def test_commands_show_what_there_is(shell: Typed) -> None:
    out, _ = shell("\\d\n\\d orders\n\\s\n\\?\n\x04")
    assert "orders" in out and "amount" in out and "Ctrl-D" in out


def test_names_of_the_lake_are_completed(db: trickle.Session) -> None:
    db.create_stream_table("totals", "SELECT sum(amount) AS total FROM orders")
    words = Words(Shell(Options(), db, history=InMemoryHistory(), screen=DummyOutput()).names)

    def completed(text: str) -> list[str]:
        return [c.text for c in words.get_completions(Document(text), None)]  # type: ignore[arg-type]

    assert completed("SELECT * FROM o") == ["orders"]
    assert completed("SELECT * FROM ") == ["orders", "totals"]
    assert completed("SELECT am") == ["amount"]
    assert "SELECT" in completed("sel")
