"""Programs that tests run as processes of their own: writers to be killed or to race, and the smoke suite."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import trickle
from trickle.testing.lakes import LakeSite


class Program:
    """A Python module running with a JSON argument; what it prints are JSON lines."""

    def __init__(self, module: str, site: LakeSite, errors: Path, **arguments: Any) -> None:
        order = {"lake": site.order(), **arguments}
        self._errors = errors
        with errors.open("ab") as sink:
            self._process = subprocess.Popen(
                [sys.executable, "-m", module, json.dumps(order)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sink,
                text=True,
                start_new_session=True,
                env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"},
            )

    def lines(self) -> Iterator[Any]:
        """What it says, until it ends."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.endswith("\n"):
                yield json.loads(line)

    def hear(self) -> Any:
        """The next thing it says."""
        for line in self.lines():
            return line
        raise AssertionError(f"ended without a word:\n{self._log()}")

    def tell(self, word: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(word + "\n")
        self._process.stdin.flush()

    def kill(self) -> None:
        """SIGKILL to the process and its Java, which die without a word."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def finish(self) -> list[Any]:
        """Wait for the end, which must be a good one, and return all it said."""
        said = list(self.lines())
        code = self._process.wait()
        assert code == 0, f"ended with code {code}:\n{self._log()}"
        return said

    def _log(self) -> str:
        return self._errors.read_text(errors="replace")[-4000:]


def say(**words: Any) -> None:
    print(json.dumps(words), flush=True)


def order() -> dict[str, Any]:
    """What the parent wants of this process."""
    wanted: dict[str, Any] = json.loads(sys.argv[1])
    return wanted


def open_lake(lake: dict[str, Any]) -> trickle.Session:
    """Open the lake of an order with a small Spark of its own."""
    small = {"spark.master": "local[1]", "spark.driver_memory": "512m", "spark.shuffle_partitions": 1}
    return trickle.connect(lake["target"], data_path=lake["data_path"], settings=lake["settings"] | small)


def smoke_through(master: str, lake: Path) -> None:
    """Run the smoke suite in a process whose Spark is `master`."""
    done = subprocess.run(
        [sys.executable, "-m", "trickle.testing.smoke", str(lake), master],
        capture_output=True,
        text=True,
        timeout=600,
        env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"},
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
