"""The shape of the source: tools that judge it, and what no tool knows."""

from __future__ import annotations

import ast
import doctest
import importlib
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src" / "trickle").rglob("*.py"))
LONGEST = 400

TOOLS = {
    "ruff check": ("ruff", "check", "."),
    "ruff format": ("ruff", "format", "--check", "."),
    "mypy": ("mypy",),
    "import-linter": ("lint-imports", "--no-cache"),
}


@pytest.mark.parametrize("name", TOOLS)
def test_the_tools_have_nothing_to_say(name: str) -> None:
    program, *arguments = TOOLS[name]
    scripts = Path(sysconfig.get_path("scripts"))
    done = subprocess.run([scripts / program, *arguments], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT / "src")))
def test_a_module_opens_with_a_sentence_and_stays_readable(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    said = ast.get_docstring(ast.parse(text)) or ""
    assert len(said.split()) >= 2, "the docstring says what the module is for"
    assert len(text.splitlines()) <= LONGEST, "a file this long is two ideas"


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT / "src")))
def test_what_a_module_exports_is_sorted(path: Path) -> None:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            names = ast.literal_eval(node.value)
            assert names == sorted(set(names), key=_isort_order)


def test_the_examples_in_docstrings_hold() -> None:
    named = [".".join(p.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__") for p in SOURCES]
    found = {name: doctest.testmod(importlib.import_module(name)) for name in named}
    assert [name for name, result in found.items() if result.failed] == []
    assert sum(result.attempted for result in found.values()) > 50


def test_help_waits_for_no_heavy_module() -> None:
    code = "import sys, trickle.cli.main; print([m for m in ('pyspark', 'pandas', 'sqlalchemy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_nothing_is_left_for_later() -> None:
    marks = ("TO" + "DO", "FIX" + "ME", "XX" + "X")
    left = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in (*SOURCES, *sorted((ROOT / "tests").rglob("*.py")))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if any(mark in line for mark in marks)
    ]
    assert left == []


def _isort_order(name: str) -> tuple[int, str]:
    """Constants, then classes, then the rest: the order that ruff keeps."""
    return (0 if name.isupper() else 1 if name[:1].isupper() else 2, name)
