"""`trickle run` as a process that can be heard, ended and killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Usage:
    cpu_seconds: float
    own_mb: float


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
        for pid in self._group():
            if pid != self._process.pid:
                os.kill(pid, signal.SIGKILL)

    def usage(self) -> Usage:
        """What it has cost so far: the processor for it and what it started, the memory of its own process."""
        ticks = sum(int(fields[11]) + int(fields[12]) for fields in self._group().values())
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return Usage(ticks / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGE_SIZE") / 1e6)

    def _group(self) -> dict[int, list[str]]:
        """Its process and those that it started, each with the fields of /proc/<pid>/stat after the name."""
        found = {}
        for process in Path("/proc").glob("[0-9]*"):
            try:
                fields = (process / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # ended meanwhile
            if int(fields[2]) == self._process.pid:
                found[int(process.name)] = fields
        return found

    def kill(self) -> None:
        """SIGKILL to the process and its Java."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def log(self) -> str:
        return self.errors.read_text(errors="replace")[-3000:] + self.said.read_text()[-3000:]
