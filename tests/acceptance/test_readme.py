"""Somebody who reads the README and types what it says, in a clone and a virtual environment of their own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", ".*_cache", "__pycache__", "site", "dist", "build")
FIVE_MINUTES = 300.0


def typed(readme: str) -> tuple[str, str]:
    """The blocks as one script, but for those that run the tests; and what the console is to show."""
    script, shown = ["set -e"], []
    for kind, text in re.findall(r"^```(sh|python|console)\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL):
        if kind == "python":
            script.append(f"python - <<'END'\n{text}END")
        elif kind == "console":
            script += [line.removeprefix("$ ") for line in text.splitlines() if line.startswith("$ ")]
            shown += [line for line in text.splitlines() if not line.startswith("$ ")]
        elif "pytest" not in text:
            script.append(text)
    return "\n".join(script), "\n".join(shown)


@pytest.mark.heavy
def test_who_follows_the_readme_is_fresh_in_five_minutes(tmp_path: Path) -> None:
    clone = tmp_path / "trickle"
    shutil.copytree(ROOT, clone, ignore=LEFT_OUT)
    script, shown = typed((clone / "README.md").read_text(encoding="utf-8"))
    assert "trickle demo" in script and "refresh_stream_table" in script and "(1 row)" in shown
    outside = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV", "TRICKLE_LAKE")}
    began = time.monotonic()
    done = subprocess.run(["bash", "-c", script], cwd=clone, env=outside, capture_output=True, text=True)
    took = time.monotonic() - began
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert ", 0 mismatches" in done.stdout
    assert done.stdout.rstrip().endswith(shown), done.stdout[-500:]
    assert took < FIVE_MINUTES, f"{took:.0f} s"
