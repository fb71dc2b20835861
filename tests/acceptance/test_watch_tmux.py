"""`trickle watch` in a real terminal: keys go in through tmux, and its screen is read."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sysconfig
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import trickle
from trickle.testing.past import Past

PROGRAM = Path(sysconfig.get_path("scripts")) / "trickle"
FEW = ("--set", "spark.master=local[2]", "--set", "spark.driver_memory=1g")
TOTALS = "SELECT customer, sum(amount) AS total FROM orders GROUP BY customer"


@dataclass
class Terminal:
    """A tmux server of its own, with one window of 100 by 30."""

    socket: Path

    def tmux(self, *words: str) -> str:
        done = subprocess.run(["tmux", "-S", str(self.socket), *words], capture_output=True, text=True, timeout=30)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def watch(self, lake: Path) -> None:
        command = shlex.join([str(PROGRAM), "--lake", str(lake), *FEW, "watch", "--every", "0.2"])
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30", f"{command}; echo it ended; cat")

    def press(self, *keys: str) -> None:
        self.tmux("send-keys", *keys)

    def screen(self) -> str:
        return self.tmux("capture-pane", "-p")

    def see(self, *texts: str, seconds: float = 120) -> str:
        """Wait until all of them are on the screen."""
        end = time.monotonic() + seconds
        while not all(text in (screen := self.screen()) for text in texts):
            assert time.monotonic() < end, f"{texts} did not appear:\n{screen}"
            time.sleep(0.1)
        return screen


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    if shutil.which("tmux") is None:
        pytest.skip("no tmux on this machine")
    made = Terminal(tmp_path / "tmux")
    yield made
    subprocess.run(["tmux", "-S", str(made.socket), "kill-server"], capture_output=True, check=False)


def test_a_table_is_seen_and_its_fuse_reset(tmp_path: Path, terminal: Terminal) -> None:
    with trickle.connect(tmp_path / "shop") as db:
        db.sql("CREATE TABLE orders (customer INT, amount INT)")
        past = Past(db)
        past.blow(past.stream("totals", TOTALS, "orders", options={"fuse": "on", "fuse_ceiling": 100}))
        terminal.watch(tmp_path / "shop")
        terminal.see("totals", "FUSE BLOWN", "1 stream table")
        terminal.press("5")
        terminal.see("totals critical fuse_blown", "a change of 900 rows", "remedy: see what came in")
        terminal.press("1", "f")
        terminal.see("The fuse of totals held changes back", "apply: let the change through")
        terminal.press("Enter")
        terminal.see("totals: fuse reset: apply", "ACTIVE")
        assert db.fuse_status("totals")[0].state == "reset"
        terminal.press("q")
        terminal.see("it ended")


@pytest.mark.spark
@pytest.mark.heavy
def test_a_table_s_life_can_be_followed_on_the_screen(tmp_path: Path, spark: SparkSession, terminal: Terminal) -> None:
    with trickle.connect(tmp_path / "shop", spark=spark) as db:
        db.sql("CREATE TABLE orders (customer INT, amount INT)")
        db.sql("INSERT INTO orders VALUES (1, 5), (2, 7)")
        terminal.watch(tmp_path / "shop")
        terminal.see("0 stream tables")

        # Created: it appears by itself. Changed: it lags behind until a key refreshes it.
        db.create_stream_table("totals", TOTALS, refresh_mode="DIFFERENTIAL", fuse="on", fuse_ceiling=10)
        terminal.see("totals", "fresh")
        db.sql("INSERT INTO orders VALUES (1, 1)")
        terminal.press("r")
        terminal.see("totals: DIFFERENTIAL, +1 −1 rows in", "fresh")

        # Too large a change: the fuse, and its reset.
        db.sql("INSERT INTO orders SELECT 3, id FROM range(50)")
        terminal.press("r")
        terminal.see("FUSE BLOWN")
        terminal.press("f")
        terminal.see("The fuse of totals held changes back")
        terminal.press("Enter")
        terminal.see("totals: fuse reset: apply")
        terminal.press("r")
        terminal.see("totals: DIFFERENTIAL, +1 −0 rows in", "fresh")
        assert db.sql("SELECT total FROM totals WHERE customer = 3").collect()[0].total == 1225

        # A source breaks: the error, and what to do.
        db.sql("CREATE TABLE texts (t STRING)")
        db.create_stream_table("numbers", "SELECT CAST(t AS INT) AS n FROM texts")
        terminal.see("numbers")
        db.sql("INSERT INTO texts VALUES ('seven')")
        terminal.press("Down", "r")
        terminal.press("5")
        terminal.see("numbers critical query_error", "'seven'", "remedy: correct the rows", "try_cast")
        terminal.press("q")
        terminal.see("it ended")
