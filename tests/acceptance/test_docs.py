"""The documentation is true: its examples run, its lists are complete, its links lead somewhere."""

from __future__ import annotations

import doctest
import re
import shlex
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from trickle.cli.answers import fetch
from trickle.cli.main import app
from trickle.cli.output import TextOutput
from trickle.cli.reference import PAGES
from trickle.delta import strategies
from trickle.delta.explain import _STRATEGIES as STRATEGIES
from trickle.delta.recursion import strategy as recursion_strategy
from trickle.delta.state import store
from trickle.errors import NotIncremental
from trickle.lake import types
from trickle.sql.lower import lower
from trickle.sql.script import split
from trickle.testing import matrix
from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.lakes import sqlite_site
from trickle.testing.postgres_server import PostgresServer

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PROSE = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]
EXAMPLES = [ROOT / "README.md", *sorted((DOCS / "tutorial").glob("*.md")), *sorted((DOCS / "how-to").glob("*.md"))]
ON_POSTGRES = "postgresql://trickle:secret@db.example.org/lake"
DATA_PATH = "/srv/lake/"

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """A fenced example; `kind` is all that follows the fence: `sql`, `sql duckdb`, `python noexec`."""

    kind: str
    text: str
    line: int


def blocks(text: str) -> list[Block]:
    found = re.finditer(r"^```([^\n]+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [Block(m[1].strip(), m[2], text[: m.start()].count("\n") + 1) for m in found]


@dataclass
class Reader:
    """Somebody who types the examples of a page, one after the other, in an empty directory."""

    page: str
    names: dict[str, Any]
    capture: pytest.CaptureFixture[str]
    peer: DuckDBPeer
    directory: Path
    _kinds: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self._kinds = {"python": self.python, "sql": self.sql, "console": self.console, "sql duckdb": self.duckdb}

    def read(self, text: str) -> None:
        found = blocks(text)
        for block, after in zip(found, [*found[1:], Block("", "", 0)], strict=True):
            if block.kind in self._kinds:
                self._kinds[block.kind](block, after.text if after.kind == "text" else None)

    def python(self, block: Block, _: str | None) -> None:
        if ">>>" not in block.text:
            with redirect_stdout(StringIO()):
                exec(compile("\n" * block.line + block.text, self.page, "exec"), self.names)
            return
        test = doctest.DocTestParser().get_doctest(block.text, self.names, self.page, self.page, block.line)
        report = StringIO()
        runner = doctest.DocTestRunner(optionflags=FLAGS)
        runner.run(test, out=report.write, clear_globs=False)
        self.names.update(test.globs)
        assert runner.summarize(verbose=False).failed == 0, report.getvalue()

    def sql(self, block: Block, expected: str | None) -> None:
        result = [self.names["db"].sql(one) for one in split(block.text)][-1]
        if expected is not None:
            self.capture.readouterr()
            TextOutput().rows(fetch(result))
            self.compare(self.capture.readouterr().out, expected)

    def console(self, block: Block, _: str | None) -> None:
        for command, expected in typed(block.text):
            self.capture.readouterr()
            with pytest.raises(SystemExit) as ended:
                app(shlex.split(command)[1:], prog_name="trickle")
            out, err = self.capture.readouterr()
            assert not ended.value.code, f"{command}\n{err}"
            self.compare(out, expected)

    def duckdb(self, block: Block, _: str | None) -> None:
        self.peer.run(sqlite_site(self.directory / "shop").address, *split(block.text))

    def compare(self, found: str, expected: str) -> None:
        if expected.strip() not in ("", "..."):
            assert [line.rstrip() for line in found.splitlines()] == [line.rstrip() for line in expected.splitlines()]


def typed(text: str) -> Iterator[tuple[str, str]]:
    """Each command after a $, with the output shown below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


@pytest.mark.spark
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.name)
def test_the_examples_of_a_page_run(
    path: Path,
    spark: SparkSession,
    peer: DuckDBPeer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.chdir(tmp_path)
    text = path.read_text(encoding="utf-8")
    if ON_POSTGRES in text:
        server: PostgresServer = request.getfixturevalue("postgres")
        text = text.replace(ON_POSTGRES, server.database()).replace(DATA_PATH, f"{tmp_path}/data/")
    names = {"spark": spark}
    try:
        Reader(str(path.relative_to(ROOT)), names, capfd, peer, tmp_path).read(text)
    finally:
        if "db" in names:
            names["db"].close()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "wrong",
    [
        "```python\nassert 1 + 1 == 3\n```\n",
        "```python\n>>> 1 + 1\n3\n```\n",
        "```console\n$ trickle version\ntrickle 0.0.0\n```\n",
        "```console\n$ trickle nonsense\n```\n",
    ],
)
def test_a_wrong_example_is_noticed(
    wrong: str, peer: DuckDBPeer, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AssertionError):
        Reader("a page", {}, capfd, peer, tmp_path).read(wrong)


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_up_to_date(name: str) -> None:
    written = (DOCS / "reference" / name).read_text(encoding="utf-8")
    assert written == PAGES[name](), "run `python -m trickle.cli.reference docs/reference`"


def test_every_type_is_documented() -> None:
    page = (DOCS / "reference" / "types.md").read_text(encoding="utf-8")
    for word in types._ATOMS:
        assert re.search(rf"`{word}`", page), word


TABLES = {
    "orders": [
        ("id", "INT"),
        ("customer", "INT"),
        ("amount", "DECIMAL(10, 2)"),
        ("day", "DATE"),
        ("tags", "ARRAY<STRING>"),
    ],
    "customers": [("id", "INT"), ("name", "STRING"), ("city", "STRING")],
}


def documented_queries() -> list[tuple[str, str]]:
    """The examples of the reference, and the strategy that it names."""
    return [(line.query, line.strategy) for line in documented_lines()]


def documented_lines() -> list[matrix.Line]:
    return matrix.read((DOCS / "reference" / "sql.md").read_text(encoding="utf-8"))


def strategies_of(query: str) -> set[str]:
    try:
        found = lower(query, TABLES)
        found.require_deterministic()
    except NotIncremental:
        return {"full"}
    stored = store(found.plan, found.labels)
    recursions = [recursion_strategy(r, stored) for r in found.recursions]
    return {s.strategy for s in (*strategies(stored.plan, stored), *recursions)}


@pytest.mark.parametrize(("query", "strategy"), documented_queries())
def test_a_query_is_followed_as_the_reference_says(query: str, strategy: str) -> None:
    assert strategy in strategies_of(query)


@pytest.mark.parametrize("line", documented_lines(), ids=lambda line: line.query)
def test_a_query_is_refused_in_the_modes_that_the_reference_says(line: matrix.Line) -> None:
    """That it is exact in the others, tests/acceptance/test_sql_matrix.py proves."""
    refused = strategies_of(line.query) == {"full"}
    assert line.modes == (("FULL",) if refused else matrix.MODES)


def test_every_strategy_has_an_example() -> None:
    page = (DOCS / "reference" / "sql.md").read_text(encoding="utf-8")
    explained = set(re.findall(r"^\| `(\w+)` \| [^`]", page, re.MULTILINE))
    assert explained == {strategy for _, strategy in documented_queries()}
    assert explained == {strategy for strategy, _ in STRATEGIES.values()} - {"changes", "constant"} | {
        "algebraic",
        "full",
        "rederive",
    }


@pytest.mark.parametrize("path", PROSE, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (path.parent / target).exists(), target


def test_the_pipeline_runs_the_test_command_of_the_readme() -> None:
    commands = [b.text.strip() for b in blocks((ROOT / "README.md").read_text(encoding="utf-8")) if b.kind == "sh"]
    [test_command] = [c for c in commands if "pytest" in c]
    assert test_command in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert any(c.endswith("trickle demo") for c in commands)
