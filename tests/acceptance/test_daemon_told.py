"""A daemon is told what to do by commands and by SQL, and tells what it did: its log, a webhook, NOTIFY."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pyspark.sql import SparkSession

from trickle.cli.main import app
from trickle.testing.daemon.process import Daemon
from trickle.testing.lakes import LakeSite
from trickle.testing.receiver import receiving

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]

PER = "SELECT cust, count(*) AS n FROM orders GROUP BY cust"


@contextmanager
def listening(lake: LakeSite) -> Iterator[Callable[[], list[dict[str, Any]]]]:
    """What comes on the channel `trickle`, if the catalog has one."""
    if not lake.address.on_postgres:
        yield list
        return
    with psycopg.connect(lake.target, autocommit=True) as listener:
        listener.execute("LISTEN trickle")
        yield lambda: [json.loads(n.payload) for n in listener.notifies(timeout=2)]


def test_a_daemon_is_paused_and_resumed_and_tells_everybody(
    lake: LakeSite, quick: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def command(*words: str) -> None:
        place = ["--data-path", str(lake.data)] if lake.address.on_postgres else []
        given = [word for name, value in lake.settings.items() for word in ("--set", f"{name}={value}")]
        with pytest.raises(SystemExit) as ended:
            app(["--lake", lake.target, *place, *given, *words], prog_name="trickle")
        assert not ended.value.code, capfd.readouterr().err

    with lake.connect(quick) as db, receiving() as heard, listening(lake) as notified:
        db.sql("CREATE TABLE orders (id INT, cust INT)")
        db.sql("CREATE TABLE items (id INT, price INT)")
        db.create_stream_table("per", PER, schedule="on_change")
        db.create_stream_table("prices", "SELECT id, price FROM items WHERE price > 0", schedule="on_change")

        def fresh(*names: str) -> bool:
            return all(s.lag_seconds == 0 for s in db.stream_table_status() if s.name in names)

        with Daemon(lake, tmp_path / "daemon", events__webhook=heard.url).ready() as daemon:
            command("pause")
            db.sql("INSERT INTO orders VALUES (1, 1), (2, 1)")
            time.sleep(1.5)
            assert daemon.events("refresh_started") == []
            db.sql("CALL trickle.resume()")
            daemon.wait_for(lambda: fresh("per"))
            db.sql("CALL trickle.pause('per')")
            db.sql("INSERT INTO orders VALUES (3, 2)")
            db.sql("INSERT INTO items VALUES (1, 5)")
            daemon.wait_for(lambda: fresh("prices") and daemon.events("held"))
            assert not fresh("per")
            command("resume", "per")
            daemon.wait_for(lambda: fresh("per", "prices"))
            begun = len(daemon.events("refresh_started"))
            db.sql("INSERT INTO orders VALUES (4, 2)")
            daemon.wait_for(lambda: len(daemon.events("refresh_started")) > begun)
            assert daemon.end() == 0, "what is in flight is ended first"
            assert len(daemon.events("refresh_finished")) == len(daemon.events("refresh_started")) and fresh("per")
        said = [(e["kind"], e["name"]) for e in daemon.events()]
        told = {"scheduler_started", "refresh_started", "refresh_finished", "held", "scheduler_stopped"}
        assert told <= {kind for kind, _ in said}
        assert [(e["kind"], e["name"]) for e in heard.bodies] == said
        if lake.address.on_postgres:
            assert [(e["kind"], e["name"]) for e in notified()] == said
        assert sorted(tuple(r) for r in db.table("per").collect()) == [(1, 2), (2, 2)]
