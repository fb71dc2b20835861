"""`trickle run` as a process that can be heard, ended and killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from trickle.testing.lakes import LakeSite

SMALL = {"spark.master": "local[1]", "spark.driver_memory": "1g", "spark.shuffle_partitions": 1}
FEW_ROWS = (
    "spark.sql.codegen.wholeStage=false",
    "spark.sql.codegen.factoryMode=NO_CODEGEN",
    "spark.sql.adaptive.enabled=false",
)
"""Small plans over few rows: compiling them would take longer than running them."""


class Daemon:
    def __init__(self, site: LakeSite, folder: Path, **settings: Any) -> None:
        """Settings are written with `__` for the dot."""
        given = {**site.settings, **SMALL, **{name.replace("__", "."): value for name, value in settings.items()}}
        words = ["--lake", site.target, *(w for k, v in given.items() for w in ("--set", f"{k}={v}"))]
        if site.address.on_postgres:
            words += ["--data-path", str(site.data)]
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        number = len(list(folder.glob("*.events")))
        self.said, self.errors = folder / f"{number}.events", folder / f"{number}.errors"
        confs = " ".join(f"--conf {conf}" for conf in FEW_ROWS)
        with self.said.open("w") as out, self.errors.open("w") as err:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "trickle.cli.main", *words, "run", "--log", "json"],
                stdout=out,
                stderr=err,
                start_new_session=True,
                env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_SUBMIT_ARGS": f"{confs} pyspark-shell"},
            )

    def __enter__(self) -> Daemon:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self.kill()

    @property
    def pid(self) -> int:
        return self._process.pid

    def events(self, kind: str = "") -> list[dict[str, Any]]:
        lines = self.said.read_text().splitlines(keepends=True)
        found = [json.loads(line) for line in lines if line.endswith("\n")]
        return [event for event in found if kind in ("", event["kind"])]

    def wait_for(self, condition: Callable[[], Any], seconds: float = 300) -> Any:
        """What the condition says once it is true."""
        until = time.monotonic() + seconds
        while not (found := condition()):
            assert self._process.poll() is None, self.log()
            assert time.monotonic() < until, f"waited in vain\n{self.log()}"
            time.sleep(0.2)
        return found

    def ready(self) -> Daemon:
        self.wait_for(lambda: self.events("scheduler_started"))
        return self

    def end(self, seconds: float = 120) -> int:
        """SIGTERM: what runs is ended, then the process."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(seconds)

    def wait(self, seconds: float) -> int:
        """Its exit code, once it has ended by itself."""
        return self._process.wait(seconds)

    def kill_java(self) -> None:
        """SIGKILL to what it started itself, and not to it."""
        for process in Path("/proc").glob("[0-9]*"):
            try:
                fields = (process / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # ended meanwhile
            if int(fields[2]) == self._process.pid and int(process.name) != self._process.pid:
                os.kill(int(process.name), signal.SIGKILL)

    def kill(self) -> None:
        """SIGKILL to the process and its Java."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def log(self) -> str:
        return self.errors.read_text(errors="replace")[-3000:] + self.said.read_text()[-3000:]
