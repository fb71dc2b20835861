"""`trickle run --web` as a process: it says where it listens, serves, and ends when told."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
import yaml

import trickle
from trickle.cli.main import app


@pytest.mark.parametrize(
    ("option", "found"), [(None, "trickle_catalog_up 1.0"), ("--alerts", "TrickleLag"), ("--dashboard", '"panels"')]
)
def test_metrics_and_what_goes_with_them_are_printed(
    option: str | None, found: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trickle.connect(tmp_path / "shop").close()
    with pytest.raises(SystemExit) as ended:
        app(["--lake", str(tmp_path / "shop"), "metrics", *([option] if option else [])], prog_name="trickle")
    printed = capsys.readouterr().out
    assert not ended.value.code and found in printed
    if option:
        assert yaml.safe_load(printed), "also JSON is YAML"


def test_metrics_are_json_when_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trickle.connect(tmp_path / "shop").close()
    with pytest.raises(SystemExit):
        app(["--lake", str(tmp_path / "shop"), "metrics", "--json"], prog_name="trickle")
    found = {sample["name"]: sample for sample in json.loads(capsys.readouterr().out)}
    assert found["trickle_catalog_up"] == {"name": "trickle_catalog_up", "labels": {}, "value": 1.0}


def test_pages_and_metrics_are_served_beside_the_scheduler(tmp_path: Path) -> None:
    trickle.connect(tmp_path / "shop").close()
    words = ["--lake", str(tmp_path / "shop"), "--set", "web.port=0", "--set", "events.webhook=http://127.0.0.1:9/"]
    words += ["run", "--web", "--log", "none"]
    started = subprocess.Popen(
        [sys.executable, "-m", "trickle.cli.main", *words], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    try:
        assert started.stderr is not None
        said = started.stderr.readline()
        assert said.startswith("serving http://127.0.0.1:"), said
        address = said.split()[1]
        with urllib.request.urlopen(f"{address}index.json", timeout=60) as answer:
            assert json.load(answer)["stream_tables"] == []
        with urllib.request.urlopen(f"{address}metrics", timeout=60) as answer:
            assert 'trickle_workers{state="idle"} 4.0' in answer.read().decode()
        started.send_signal(signal.SIGTERM)
        assert started.wait(60) == 0
        assert "warning: the webhook did not take scheduler_started" in started.stderr.read()
    finally:
        started.kill()
        started.wait()
