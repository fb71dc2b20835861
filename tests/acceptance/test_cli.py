"""The command `trickle`: what it prints, and what its exit code says."""

from __future__ import annotations

import csv
import io
import json
import os
import shlex
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from typer.main import get_command

from trickle.cli.examples import of_epilog
from trickle.cli.main import app
from trickle.cli.reference import walk
from trickle.config import SETTINGS
from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.lakes import sqlite_site

PROGRAM = Path(sysconfig.get_path("scripts")) / "trickle"


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Trickle = Callable[..., Said]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRICKLE_LAKE", raising=False)
    return tmp_path


@pytest.fixture
def trickle(place: Path, capfd: pytest.CaptureFixture[str]) -> Trickle:
    """Runs the command in this process, so that it finds the running Spark."""

    def run(*arguments: str) -> Said:
        with pytest.raises(SystemExit) as ended:
            app(arguments, prog_name="trickle")
        out, err = capfd.readouterr()
        return Said(int(ended.value.code or 0), out, err)

    return run


@pytest.fixture
def shop(trickle: Trickle, spark: SparkSession) -> Trickle:
    """A lake in the current directory with one table, as snapshot 1, and three rows, as snapshot 2."""
    assert trickle("init").code == 0
    script = "CREATE TABLE t (id INT NOT NULL, price DECIMAL(8, 2)); INSERT INTO t VALUES (1, 2.50), (2, NULL), (3, 1)"
    assert trickle("sql", script).code == 0
    return trickle


def program(*arguments: str, **environment: str) -> Said:
    """Runs the command as it was installed, in a process of its own."""
    done = subprocess.run(
        [PROGRAM, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"} | environment,
    )
    return Said(done.returncode, done.stdout, done.stderr)


def test_help_lists_the_commands() -> None:
    said = program("--help")
    assert said.code == 0
    for command in ("init", "demo", "sql", "tables", "create", "refresh", "explain", "maintain", "settings", "doctor"):
        assert command in said.out


def test_version_and_settings_are_facts(trickle: Trickle) -> None:
    assert trickle("version").out.startswith("trickle 0.")
    assert set(trickle("version", "--json").json) == {"trickle", "python", "pyspark"}
    found = {s["name"]: s for s in trickle("--set", "lake.commit_retries=7", "--json", "settings").json}
    assert set(found) == {s.name for s in SETTINGS}
    assert (found["lake.commit_retries"]["value"], found["lake.commit_retries"]["default"]) == (7, 20)


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("tables", "--nonsense"),
        ("--set", "lake.commit_retries", "tables"),
        ("--set", "no.such=1", "tables"),
        ("--set", "lake.commit_retries=-1", "tables"),
        ("--lake", "s3://bucket/lake", "init"),
        ("sql", "SELECT 1", "--format", "xml"),
        ("sql", "SELECT 1", "--file", "also.sql"),
        ("maintain", "expire", "--older-than", "yesterday"),
        ("changes", "t"),
        ("refresh",),
        ("refresh", "t", "--all"),
        ("create", "s", "SELECT 1 AS one", "--mode", "SOMETIMES"),
        ("create", "s", "SELECT 1 AS one", "--option", "shedule=5m"),
        ("create", "s", "SELECT 1 AS one", "--option", "schedule"),
        ("create", "s", "SELECT 1 AS one", "--option", "schedule=often"),
        ("run", "--log", "xml"),
        ("run", "--for", "soon"),
        ("history", "--limit", "0"),
        ("demo", "--seconds", "0"),
        ("import",),
        ("import", "a.csv", "--append", "--replace"),
        ("watch",),
    ],
)
def test_wrong_usage_is_exit_code_2(trickle: Trickle, arguments: tuple[str, ...]) -> None:
    said = trickle(*arguments)
    assert said.code == 2
    assert said.err and not said.out


def test_a_command_on_no_lake_says_how_to_make_one(trickle: Trickle, place: Path) -> None:
    said = trickle("--lake", "nowhere", "tables")
    assert said.code == 1
    assert "trickle --lake nowhere init" in said.err
    assert list(place.iterdir()) == []


def test_no_java_is_exit_code_3_and_says_what_to_install(place: Path) -> None:
    said = program("demo", JAVA_HOME=str(place / "no-java"))
    assert said.code == 3
    assert said.err.startswith("error: no Java was found\n") and "openjdk" in said.err
    assert "Traceback" not in said.err
    assert list(place.iterdir()) == []


def test_init_creates_once(trickle: Trickle, place: Path) -> None:
    first = trickle("--lake", "shop", "init", "--json").json
    again = trickle("--lake", "shop", "init", "--json").json
    assert (first["created"], again["created"], again["snapshot"]) == (True, False, 0)
    assert (place / "shop" / "catalog.sqlite").is_file()


def test_the_lake_can_come_from_the_environment(trickle: Trickle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRICKLE_LAKE", "elsewhere")
    assert trickle("init").code == 0
    assert Path("elsewhere/catalog.sqlite").is_file()


@pytest.mark.spark
def test_facts_of_a_lake(shop: Trickle) -> None:
    assert [(t["schema"], t["name"], t["columns"]) for t in shop("tables", "--json").json] == [
        ("main", "t", ["id", "price"])
    ]
    assert shop("tables", "--schema", "other", "--json").json == []
    assert [(c["name"], c["type"], c["nullable"]) for c in shop("describe", "t", "--json").json] == [
        ("id", "int", False),
        ("price", "decimal(8,2)", True),
    ]
    assert [s["id"] for s in shop("snapshots", "--json").json] == [0, 1, 2]
    assert [s["id"] for s in shop("snapshots", "--limit", "1", "--json").json] == [2]


@pytest.mark.spark
def test_rows_have_three_faces(shop: Trickle) -> None:
    query = "SELECT id, price, id AS id FROM t ORDER BY id"
    assert shop("sql", query, "--json").json[:2] == [
        {"id": 1, "price": "2.50", "id_2": 1},
        {"id": 2, "price": None, "id_2": 2},
    ]
    lines = list(csv.reader(io.StringIO(shop("sql", query, "--format", "csv").out)))
    assert lines == [["id", "price", "id"], ["1", "2.50", "1"], ["2", "", "2"], ["3", "1.00", "3"]]
    table = shop("sql", query, "--rows", "2").out.splitlines()
    assert [line.split() for line in table] == [
        ["id", "price", "id"],
        ["─" * len(table[1])],
        ["1", "2.50", "1"],
        ["2", "NULL", "2"],
        ["(the", "first", "2", "rows)"],
    ]


@pytest.mark.spark
def test_statements_come_from_a_file_and_from_stdin(shop: Trickle, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("more.sql").write_text("DELETE FROM t WHERE id = 1; -- gone;\nUPDATE t SET price = 9 WHERE id = 2;")
    said = shop("sql", "-f", "more.sql", "--json")
    assert [json.loads(line) for line in said.out.splitlines()] == [
        {"rows": 1, "snapshot": 3},
        {"rows": 1, "snapshot": 4},
    ]
    monkeypatch.setattr(sys, "stdin", io.StringIO("SELECT count(*) AS n FROM t"))
    assert shop("sql", "--json").json == [{"n": 2}]
    assert shop("sql", "-f", "missing.sql").code == 3


@pytest.mark.spark
def test_functions_are_created_called_and_dropped(shop: Trickle) -> None:
    said = shop("sql", "CREATE FUNCTION net(x INT) RETURNS INT RETURN x - 1")
    assert said.out.strip() == "function net(x INT) returns INT, deterministic"
    assert shop("sql", "SELECT net(4) AS n, net(5)", "--json").json == [{"n": 3, "net(5)": 4}]
    assert shop("sql", "DROP FUNCTION net").out.strip() == "done"
    assert shop("sql", "SELECT net(4)").code == 1


@pytest.mark.spark
def test_a_transaction_spans_statements_and_must_be_closed(shop: Trickle) -> None:
    assert shop("sql", "BEGIN; DELETE FROM t; INSERT INTO t VALUES (7, 7); COMMIT").code == 0
    assert shop("snapshots", "--json").json[-1]["id"] == 3
    said = shop("sql", "BEGIN; DELETE FROM t")
    assert said.code == 1 and "COMMIT" in said.err
    assert shop("sql", "SELECT id FROM t", "--json").json == [{"id": 7}]


@pytest.mark.spark
def test_changes_are_net(shop: Trickle) -> None:
    shop("sql", "UPDATE t SET price = 3 WHERE id = 3; DELETE FROM t WHERE id = 1; INSERT INTO t VALUES (1, 2.50)")
    found = {(c["id"], c["price"], c["__w"]) for c in shop("changes", "t", "--from", "2", "--json").json}
    assert found == {(3, "1.00", -1), (3, "3.00", 1)}
    assert shop("changes", "t", "--from", "2", "--to", "2", "--json").json == []


FAILURES = (
    ("sql", "SELECT * FROM missing"),
    ("sql", "SELECT nothing FROM t"),
    ("sql", "SELEC 1"),
    ("sql", "SELECT assert_true(id > 1) FROM t"),
    ("describe", "missing"),
    ("changes", "t", "--from", "99"),
    ("maintain", "cluster", "t"),
    ("maintain", "expire"),
    ("create", "s", "SELECT nothing FROM t"),
    ("create", "s", "SELECT id, rand() AS r FROM t", "--mode", "DIFFERENTIAL"),
    ("create", "t", "SELECT id FROM t"),
    ("status", "missing"),
    ("refresh", "missing"),
    ("explain", "missing"),
    ("history", "missing"),
    ("drop", "missing"),
)


@pytest.mark.spark
def test_a_failure_is_one_block_with_a_hint(shop: Trickle) -> None:
    for arguments in FAILURES:
        said = shop(*arguments)
        assert (said.code, said.out) == (1, "")
        assert said.err.startswith("error: ") and "\nhint: " in said.err
        assert "Traceback" not in said.err and "\tat org.apache" not in said.err


@pytest.mark.spark
def test_a_failure_is_told_to_programs_in_json(shop: Trickle) -> None:
    said = shop("--json", "describe", "missing")
    assert set(json.loads(said.err)["error"]) == {"code", "message", "detail", "hint"}
    assert json.loads(said.err)["error"]["code"] == "not_found"


@pytest.mark.spark
def test_maintenance_says_what_it_did(shop: Trickle) -> None:
    shop("sql", "INSERT INTO t VALUES (4, 4); DELETE FROM t WHERE id = 1")
    [rewritten] = shop("maintain", "rewrite", "--threshold", "0", "--json").json
    assert (rewritten["table"], rewritten["files_before"], rewritten["files_after"]) == ("t", 1, 1)
    assert shop("maintain", "merge", "t", "--json").json[0]["files_after"] == 1
    assert shop("maintain", "cluster", "t", "--by", "id", "--json").json[0]["by"] == ["id"]
    before = shop("snapshots", "--json").json
    assert len(shop("maintain", "expire", "--keep", "1", "--dry-run", "--json").json) == len(before) - 1
    assert shop("snapshots", "--json").json == before
    assert "no snapshot" in shop("maintain", "expire", "--older-than", "1d").out
    assert len(shop("maintain", "expire", "--keep", "1", "--json").json) == len(before) - 1
    due = shop("maintain", "clean", "--grace", "0", "--dry-run", "--json").json
    assert due and shop("maintain", "clean", "--grace", "0", "--json").json == due
    assert "no orphans" in shop("maintain", "orphans").out
    assert shop("sql", "SELECT count(*) AS n FROM t", "--json").json == [{"n": 3}]


TOTALS = "SELECT id % 2 AS odd, sum(price) AS total FROM t GROUP BY id % 2"


@pytest.mark.spark
def test_a_stream_table_lives_on_the_command_line(shop: Trickle) -> None:
    assert "trickle create" in shop("list").out
    Path("totals.sql").write_text(f"{TOTALS};\n")
    made = shop("create", "totals", "-f", "totals.sql", "--mode", "differential", "-o", "append_only=false", "--json")
    assert (made.json["effective_mode"], made.json["data_snapshot"], made.json["obstacle"]) == ("DIFFERENTIAL", 2, "")
    shop("sql", "UPDATE t SET price = 4 WHERE id = 3")
    [lagging] = shop("status", "totals", "--json").json
    assert lagging["data_snapshot"] == 2 and lagging["lag_seconds"] > 0
    [done] = shop("refresh", "totals", "--json").json
    assert (done["action"], done["rows_inserted"], done["rows_deleted"]) == ("DIFFERENTIAL", 1, 1)
    assert "NO_DATA" in shop("refresh", "--all").out
    assert shop("sql", "SELECT * FROM totals ORDER BY odd", "--json").json == [
        {"odd": 0, "total": None},
        {"odd": 1, "total": "6.50"},
    ]
    lines = shop("history", "totals", "--limit", "2", "--json").json
    assert [(line["action"], line["reason"]) for line in lines] == [("NO_DATA", ""), ("DIFFERENTIAL", "")]
    told = shop("explain", "totals").out
    assert all(f"\n{section}\n" in told for section in ("source", "plan", "delta plan", "operator", "sql"))
    assert "analyze" in {line["section"] for line in shop("explain", "totals", "--analyze", "--json").json}


@pytest.mark.spark
def test_stream_tables_that_are_read_are_dropped_together(shop: Trickle) -> None:
    said = shop("sql", f"CREATE STREAM TABLE totals AS {TOTALS}")
    assert said.out == 'stream table "totals" (AUTO) is exact for snapshot 2\n'
    assert shop("create", "large", "SELECT odd FROM totals WHERE total > 1", "--no-fill").out.endswith(
        "not filled yet\n"
    )
    assert [t["name"] for t in shop("list", "--json").json] == ["totals", "large"]
    assert shop("sql", "REFRESH STREAM TABLE large").out.startswith("large: FULL (initial_load), +1 −0 rows in ")
    assert shop("drop", "totals").code == 1
    assert shop("drop", "totals", "--cascade", "--json").json == {"dropped": ["large", "totals"]}
    assert shop("status", "--json").json == []


@pytest.mark.spark
def test_a_query_is_judged_before_it_is_created(shop: Trickle) -> None:
    good = shop("validate", TOTALS, "--json")
    assert (good.code, good.json["effective_mode"], good.json["strategy"]) == (0, "DIFFERENTIAL", "algebraic")
    assert "warning: every refresh will be full: rand()" in shop("validate", "SELECT id, rand() AS r FROM t").out
    bad = shop("validate", "SELECT nothing FROM t")
    assert bad.code == 1 and bad.out.startswith("not valid: ")


NOT_TYPED = ("demo", "run --web", "watch", "fuse reset", "apply", "bench")
"""They take long, want a terminal, or have nothing to do here; they have tests of their own."""


def examples() -> list[tuple[str, Any, list[str]]]:
    """Every command that does something, by the words one types, with the examples of its help."""
    commands = [(path, c) for path, c in walk("trickle", get_command(app)) if not hasattr(c, "commands")]
    return [(path.removeprefix("trickle "), c, of_epilog(c.epilog)) for path, c in commands]


def test_every_command_has_an_example_that_it_understands() -> None:
    for words, command, lines in examples():
        assert lines, words
        for line in lines:
            typed = shlex.split(line.rpartition("| ")[2])
            at = typed.index(words.split()[0])
            assert typed[0] == "trickle" and typed[at:][: len(words.split())] == words.split(), line
            if words != "bench compare":  # its files must be there
                command.make_context(words, typed[at + len(words.split()) :])


@pytest.mark.spark
def test_the_examples_of_the_help_can_be_typed(trickle: Trickle, spark: SparkSession) -> None:
    assert trickle("init").code == 0
    orders = pa.table({"id": range(8), "customer": [0, 1] * 4, "amount": [1.5] * 8})
    pq.write_table(orders, "orders.parquet")
    Path("customers.csv").write_text("id,name\n0,Ada\n1,Emmy\n")
    typed = [line for words, _, lines in examples() for line in lines if not words.startswith(NOT_TYPED)]
    first = [line for line in typed if line.startswith("trickle import ")]
    averages = "trickle create averages 'SELECT customer, avg(amount) AS a FROM orders GROUP BY customer'"
    last = [line for line in typed if line.startswith(("trickle drop", "trickle watermark drop", "trickle group drop"))]
    typed = [*first, averages, *(t for t in typed if t not in (*first, *last)), *reversed(last)]
    for line in (t for t in typed if "|" not in t and "--web" not in t):
        said = trickle(*shlex.split(line)[1:])
        assert (said.code, "error" in said.err) == (0, False), line + said.err


@pytest.mark.spark
def test_the_doctor_finds_what_is_missing(shop: Trickle) -> None:
    well = {f["check"]: f for f in shop("doctor", "--json").json}
    assert all(f["ok"] for f in well.values())
    assert {"Python", "Java", "Spark", "pyspark", "lake"} <= set(well)
    ill = shop("--lake", "nowhere", "doctor", "--no-spark", "--json")
    assert ill.code == 3
    [lake] = [f for f in ill.json if f["check"] == "lake"]
    assert not lake["ok"] and "init" in lake["fix"]


def test_the_doctor_needs_no_lake_where_none_is_named(trickle: Trickle) -> None:
    said = trickle("doctor", "--no-spark")
    assert said.code == 0 and "none here" in said.out and said.out.endswith("all is well\n")


@pytest.mark.spark
def test_shells_complete_what_the_lake_holds(shop: Trickle) -> None:
    assert shop("sql", f"CREATE STREAM TABLE totals AS {TOTALS}").code == 0

    def completed(*words: str) -> list[str]:
        typed = " ".join(("trickle", *words))
        said = program(_TRICKLE_COMPLETE="complete_bash", COMP_WORDS=typed, COMP_CWORD=str(len(words)))
        return said.out.split()

    assert completed("refresh", "to") == ["totals"]
    assert completed("describe", "t") == ["t", "totals"]
    assert completed("create", "x", "--mode", "D") == ["DIFFERENTIAL"]
    assert completed("--lake", "nowhere", "refresh", "t") == []


def test_usage_errors_are_json_for_programs(trickle: Trickle) -> None:
    said = trickle("--json", "refresh")
    assert said.code == 2 and "--all" in json.loads(said.err)["error"]["message"]
    assert trickle("refresh").code == 2


@pytest.mark.heavy
@pytest.mark.spark
def test_the_tour_runs_alone_and_quietly_and_duckdb_reads_its_lake(place: Path, peer: DuckDBPeer) -> None:
    said = program("--set", "spark.master=local[2]", "--set", "spark.driver_memory=1g", "demo", "--tour")
    assert (said.code, said.err) == (0, "")
    assert "What to try next" in said.out
    found = peer.run(
        sqlite_site(place / "trickle-demo").address, "SELECT count(*) AS n, sum(amount) AS s FROM lake.orders"
    )
    assert found[0].to_pylist() == [{"n": 11, "s": Decimal("435.00")}]
    assert "revenue: DIFFERENTIAL, +2 −3 rows in " in said.out and "revenue: NO_DATA in " in said.out


@pytest.mark.spark
def test_the_demo_never_touches_a_lake_that_is_there(shop: Trickle, place: Path) -> None:
    said = shop("--lake", ".", "demo")
    assert said.code == 1 and "already" in said.err
    for name in ("trickle-demo", "trickle-demo-2"):
        assert shop("demo", "--tour").code == 0
        assert (place / name / "catalog.sqlite").is_file()


@pytest.mark.spark
def test_the_demo_keeps_six_tables_fresh_and_proves_them(trickle: Trickle, spark: SparkSession) -> None:
    said = trickle("demo", "--seconds", "4", "--orders", "300")
    assert said.code == 0, said.out
    lines = said.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "0 failures" in said.out and ", 0 mismatches" in said.out
    assert any(line[10:].startswith("change ") for line in lines)
    assert len([line for line in lines if ": exact at" in line]) >= 6
    assert {t["name"] for t in trickle("--lake", "trickle-demo", "list", "--json").json} >= {"sessions", "suspects"}


@pytest.mark.spark
@pytest.mark.heavy
def test_the_demo_shows_fifty_refreshes_in_a_minute(place: Path) -> None:
    said = program("--set", "spark.master=local[2]", "demo", "--json")
    *_, summary = map(json.loads, said.out.splitlines())
    assert said.code == 0
    assert summary["refreshes"] >= 50 and summary["mismatches"] == summary["failed"] == 0


LEAN = """
import sys
from trickle.cli.main import app
others = "sqlalchemy.dialects.postgresql networkx croniter trickle.cli.demo trickle.cli.bench"
heavy = "pyspark pyarrow pandas numpy sqlglot " + others
try:
    app(sys.argv[1:], prog_name="trickle")
except SystemExit as ended:
    print(ended.code, *(m for m in heavy.split() if m in sys.modules), file=sys.__stdout__)
"""
FACTS = ("list", "status", "history", "graph", "health")


@pytest.mark.spark
def test_facts_are_read_without_sparks_modules(shop: Trickle) -> None:
    assert shop("sql", f"CREATE STREAM TABLE totals AS {TOTALS}").code == 0
    for command in FACTS:
        done = subprocess.run([sys.executable, "-c", LEAN, command], capture_output=True, text=True)
        assert done.stdout.splitlines()[-1] == "0", done.stdout + done.stderr


@pytest.mark.spark
@pytest.mark.heavy
def test_facts_come_in_less_than_a_second(shop: Trickle) -> None:
    assert shop("sql", f"CREATE STREAM TABLE totals AS {TOTALS}").code == 0
    for command in FACTS:
        took = [_seconds(command) for _ in range(5)]
        assert median(took) < 1, (command, took)


def _seconds(command: str) -> float:
    """As at users' terminals, where Python keeps what it compiled."""
    began = time.perf_counter()
    assert program(command, PYTHONDONTWRITEBYTECODE="").code == 0
    return time.perf_counter() - began


@pytest.mark.spark
def test_health_is_an_exit_code(shop: Trickle) -> None:
    assert shop("sql", f"CREATE STREAM TABLE totals AS {TOTALS}").code == 0
    nobody = shop("health")
    assert nobody.code == 0 and nobody.out.startswith("scheduler (warning)\n  what:   none is running\n")
    assert shop("pause", "totals").code == 0
    ill = shop("health", "--json")
    assert ill.code == 1 and ill.json[0]["remedy"] == "resume the stream table."
    assert shop("resume", "totals").code == 0 and shop("health").code == 0


@pytest.mark.spark
def test_a_broken_key_is_an_exit_code(shop: Trickle) -> None:
    assert shop("check-keys").out == "no key is declared\n"
    assert shop("sql", "ALTER TABLE t ADD PRIMARY KEY (id) RELY").code == 0
    assert shop("check-keys", "t").out == "all hold: 1 declared key\n"
    assert shop("sql", "INSERT INTO t VALUES (3, 9), (3, 10)").code == 0
    broken = shop("check-keys")
    assert broken.code == 1 and "3: 3 rows" in broken.out
    [told] = shop("check-keys", "--json").json
    assert (told["name"], told["holds"], told["violations"], told["examples"]) == ("t_pkey", False, 1, ["3: 3 rows"])


@pytest.mark.spark
def test_files_become_tables(shop: Trickle) -> None:
    Path("people.csv").write_text('id,name,born\n1,Ada,1815-12-10\n2,"Emmy, N.",\n')
    Path("events.json").write_text('{"at": 1, "tags": ["a"]}\n{"at": 2, "tags": []}\n')
    Path("parts").mkdir()
    Path("parts/list.json").write_text('[{"n": 1},\n {"n": 2},\n {"n": 3}]')
    found = {i["table"]: i for i in shop("import", "people.csv", "events.json", "parts", "--json").json}
    assert {name: (i["rows"], i["created"]) for name, i in found.items()} == {
        "people": (2, True),
        "events": (2, True),
        "parts": (3, True),
    }
    assert [c["type"] for c in shop("describe", "people", "--json").json] == ["int", "string", "date"]
    assert shop("sql", "SELECT name FROM people WHERE born IS NULL", "--json").json == [{"name": "Emmy, N."}]
    again = shop("import", "people.csv")
    assert again.code == 1 and "--append" in again.err
    assert shop("import", "people.csv", "--append", "--json").json[0]["rows"] == 2
    assert shop("import", "people.csv", "--replace", "--json").json[0]["created"] is False
    assert shop("sql", "SELECT count(*) AS n FROM people", "--json").json == [{"n": 2}]


@pytest.mark.spark
def test_files_that_are_not_what_they_should_be_are_not_imported(shop: Trickle) -> None:
    Path("ragged.csv").write_text("a,b\n1,2\n3\n")
    Path("broken.json").write_text("{not json\n")
    Path("empty.csv").write_text("")
    Path("text.parquet").write_text("hello")
    before = {t["name"] for t in shop("tables", "--json").json}
    for name in ("ragged.csv", "broken.json", "empty.csv", "text.parquet"):
        said = shop("import", name)
        assert said.code == 1 and "error: " in said.err and "hint: " in said.err, name
    assert "--lenient" in shop("import", "ragged.csv").err
    assert {t["name"] for t in shop("tables", "--json").json} == before
    assert shop("import", "ragged.csv", "--lenient", "--json").json[0]["rows"] == 2


@pytest.mark.spark
def test_a_folder_is_applied_once_changed_and_pruned(shop: Trickle) -> None:
    folder = Path("streams")
    folder.mkdir()
    (folder / "totals.sql").write_text(TOTALS)
    (folder / "large.sql").write_text("CREATE STREAM TABLE large AS SELECT odd FROM totals WHERE total > 1;")
    planned = shop("apply", "--dry-run", "--json").json
    assert [(s["name"], s["action"]) for s in planned] == [("totals", "create"), ("large", "create")]
    assert shop("list", "--json").json == []
    refused = shop("apply")
    assert refused.code == 2 and "--yes" in refused.err
    assert shop("apply", "--yes").out.endswith("create totals: done\ncreate large: done\n")
    assert shop("apply").out.endswith("nothing to do\n")
    (folder / "large.sql").write_text("SELECT odd FROM totals WHERE total > 1000")
    (folder / "first.sql").write_text("SELECT min(id) AS id FROM t")
    assert [(s["name"], s["action"]) for s in shop("apply", "--yes", "--json").json] == [
        ("first", "create"),
        ("totals", "keep"),
        ("large", "replace"),
    ]
    assert shop("sql", "SELECT * FROM large", "--json").json == []
    for name in ("large", "totals"):
        (folder / f"{name}.sql").unlink()
    assert shop("apply", "--yes", "--prune").code == 0
    assert [t["name"] for t in shop("list", "--json").json] == ["first"]


@pytest.mark.spark
def test_a_project_names_its_lake_for_commands_and_sessions(
    trickle: Trickle, place: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert trickle("--lake", "shop", "init", "--project").code == 0
    assert (place / "trickle.toml").is_file() and (place / "streams").is_dir()
    assert trickle("--lake", "shop", "init", "--project").code == 1
    (place / "below").mkdir()
    monkeypatch.chdir(place / "below")
    assert trickle("sql", "CREATE TABLE t (id INT)").code == 0
    import trickle as library

    with library.connect() as db:
        assert [t.name for t in db.tables()] == ["t"]
        assert Path(db.lake.catalog.label) == place / "shop" / "catalog.sqlite"


@pytest.mark.spark
def test_warnings_are_lines_on_stderr(shop: Trickle) -> None:
    said = shop("create", "sorted", "SELECT id FROM t ORDER BY id")
    assert said.code == 0
    assert "warning: " in said.err and "ORDER BY without LIMIT" in said.err and "no key" in said.err
    told = shop("create", "middle", "SELECT percentile(id, 0.5) AS m FROM t GROUP BY price", "--json")
    assert "rescanned" in json.loads(told.err.splitlines()[0])["warning"]
    for name in ("left_side", "right_side"):
        assert shop("create", name, "SELECT id, max(price) AS p FROM t GROUP BY id").err == ""
    joined = "SELECT l.id, l.p, r.p AS q FROM left_side AS l JOIN right_side AS r ON l.id = r.id"
    assert "a diamond: both, left_side, right_side follow t" in shop("create", "both", joined).err
