"""Bad input is refused with a typed error that says what to do, and the lake stays as it was."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

import trickle
from trickle.errors import (
    AlreadyExists,
    ConfigError,
    ConstraintViolated,
    NotFound,
    QueryError,
    TrickleError,
    UnsupportedType,
)
from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.lakes import LakeSite
from trickle.testing.smoke import rows

pytestmark = pytest.mark.spark

STATEMENTS = {
    "unknown table in a query": ("SELECT * FROM nowhere", NotFound),
    "unknown schema": ("SELECT * FROM nowhere.t", NotFound),
    "unknown table of an INSERT": ("INSERT INTO nowhere VALUES (1)", NotFound),
    "unknown table of an UPDATE": ("UPDATE nowhere SET a = 1", NotFound),
    "unknown table of a DELETE": ("DELETE FROM nowhere", NotFound),
    "unknown table of a MERGE": (
        "MERGE INTO nowhere AS t USING t AS s ON t.a = s.a WHEN MATCHED THEN DELETE",
        NotFound,
    ),
    "unknown source of a MERGE": (
        "MERGE INTO t USING nowhere AS s ON t.a = s.a WHEN MATCHED THEN DELETE",
        NotFound,
    ),
    "unknown table of a TRUNCATE": ("TRUNCATE TABLE nowhere", NotFound),
    "unknown table of an ALTER": ("ALTER TABLE nowhere ADD COLUMN c INT", NotFound),
    "unknown table of a DROP": ("DROP TABLE nowhere", NotFound),
    "unknown view of a DROP": ("DROP VIEW nowhere", NotFound),
    "unknown schema of a CREATE": ("CREATE TABLE nowhere.t (a INT)", NotFound),
    "unknown column in a query": ("SELECT nothing FROM t", (NotFound, QueryError)),
    "unknown column of an INSERT": ("INSERT INTO t (a, nothing) VALUES (1, 2)", (NotFound, QueryError)),
    "unknown column of an UPDATE": ("UPDATE t SET nothing = 1", (NotFound, QueryError)),
    "unknown column in a predicate": ("DELETE FROM t WHERE nothing = 1", (NotFound, QueryError)),
    "unknown column of a MERGE": (
        "MERGE INTO t USING t AS s ON t.a = s.a WHEN MATCHED THEN UPDATE SET nothing = 1",
        (NotFound, QueryError),
    ),
    "unknown column of a DROP": ("ALTER TABLE t DROP COLUMN nothing", NotFound),
    "unknown column of a RENAME": ("ALTER TABLE t RENAME COLUMN nothing TO something", NotFound),
    "unknown column of a partition": ("CREATE TABLE p (a INT) PARTITIONED BY (nothing)", NotFound),
    "unknown function": ("SELECT no_such_function(a) FROM t", (NotFound, QueryError)),
    "unknown snapshot": ("SELECT * FROM t VERSION AS OF 4711", NotFound),
    "a text for a number": ("INSERT INTO t VALUES ('many', 'x')", QueryError),
    "a number out of range": ("INSERT INTO t VALUES (3000000000, 'x')", QueryError),
    "an update out of range": ("UPDATE t SET a = 3000000000", QueryError),
    "an array for a text": ("INSERT INTO t VALUES (1, array(1))", QueryError),
    "a type that a lake cannot hold": ("CREATE TABLE i (a INTERVAL YEAR)", (UnsupportedType, QueryError)),
    "a type that does not exist": ("CREATE TABLE i (a INTEGRAL)", (UnsupportedType, QueryError)),
    "a narrower type": ("ALTER TABLE t ALTER COLUMN a TYPE SMALLINT", QueryError),
    "a default of another type": ("CREATE TABLE d (a INT DEFAULT 'many')", QueryError),
    "a column twice": ("CREATE TABLE d (a INT, A INT)", (AlreadyExists, QueryError)),
    "a column that exists": ("ALTER TABLE t ADD COLUMN B INT", AlreadyExists),
    "a name that is taken by a column": ("ALTER TABLE t RENAME COLUMN a TO b", AlreadyExists),
    "a column twice in an INSERT": ("INSERT INTO t (a, a) VALUES (1, 1)", QueryError),
    "a column twice in an UPDATE": ("UPDATE t SET a = 1, a = 2", QueryError),
    "a name that is taken by a table": ("CREATE TABLE T (a INT)", AlreadyExists),
    "a schema that exists": ("CREATE SCHEMA main", AlreadyExists),
    "too few values": ("INSERT INTO t VALUES (1)", QueryError),
    "too many values": ("INSERT INTO t VALUES (1, 'x', 2)", QueryError),
    "fewer values than columns named": ("INSERT INTO t (a, b) VALUES (1)", QueryError),
    "too few columns in a SELECT": ("INSERT INTO t SELECT a FROM t", QueryError),
    "NULL where it is not allowed": ("INSERT INTO strict VALUES (NULL, 1)", ConstraintViolated),
    "nothing where NULL is not allowed": ("INSERT INTO strict (b) VALUES (1)", (ConstraintViolated, QueryError)),
    "an update to NULL": ("UPDATE strict SET a = NULL", ConstraintViolated),
    "two matches for one row": (
        "MERGE INTO t USING (VALUES (1, 'p'), (1, 'q')) AS s(a, b) ON t.a = s.a WHEN MATCHED THEN UPDATE SET b = s.b",
        ConstraintViolated,
    ),
    "an error while computing": ("UPDATE t SET a = a / (a - a)", QueryError),
    "bad syntax": ("SELEC * FROM t", QueryError),
    "half a statement": ("INSERT INTO t", QueryError),
    "two statements": ("DELETE FROM t; DELETE FROM t", QueryError),
    "no statement": ("  ", QueryError),
    "COMMIT without BEGIN": ("COMMIT", QueryError),
    "ROLLBACK without BEGIN": ("ROLLBACK", QueryError),
}

CALLS: dict[str, tuple[Callable[[trickle.Session], object], type | tuple[type, ...]]] = {
    "table() of nothing": (lambda db: db.table("nowhere"), NotFound),
    "table() at no snapshot": (lambda db: db.table("t", at=4711), NotFound),
    "append() to nothing": (lambda db: db.append("nowhere", [{"a": 1}]), NotFound),
    "append() of an unknown column": (lambda db: db.append("t", [{"a": 1, "z": 2}]), (NotFound, QueryError)),
    "append() of another type": (lambda db: db.append("t", pa.table({"a": ["x"], "b": ["y"]})), QueryError),
    "append() out of range": (
        lambda db: db.append("t", pa.table({"a": pa.array([2**40], pa.int64()), "b": ["y"]})),
        QueryError,
    ),
    "append() of NULL": (
        lambda db: db.append("strict", pa.table({"a": pa.array([None], pa.int32())})),
        ConstraintViolated,
    ),
    "append() of a number": (lambda db: db.append("t", 5), (QueryError, ConfigError)),
    "changes() of nothing": (lambda db: db.changes("nowhere", 0, 1), NotFound),
    "changes() backwards": (lambda db: db.changes("t", db.head(), 0), (QueryError, ConfigError)),
    "changes() of the future": (lambda db: db.changes("t", 0, 4711), NotFound),
    "merge_files() of nothing": (lambda db: db.merge_files("nowhere"), NotFound),
    "cluster() by nothing": (lambda db: db.cluster("t", by=["nothing"]), NotFound),
    "expire_snapshots() of all": (lambda db: db.expire_snapshots(keep=0), (ConfigError, QueryError)),
}


@pytest.fixture
def filled(db: trickle.Session) -> trickle.Session:
    db.sql("CREATE TABLE t (a INT, b STRING)")
    db.sql("CREATE TABLE strict (a INT NOT NULL, b INT)")
    db.sql("INSERT INTO t VALUES (1, 'x'), (2, 'y'), (NULL, NULL)")
    db.sql("INSERT INTO strict VALUES (1, 1)")
    return db


@contextmanager
def refused(
    db: trickle.Session, lake: LakeSite, kind: type | tuple[type, ...]
) -> Iterator[pytest.ExceptionInfo[TrickleError]]:
    """The block fails with an error of that kind which has a hint, and leaves no snapshot and no file."""
    head, files = db.head(), lake.files()
    with pytest.raises(kind) as caught:
        yield caught
    assert isinstance(caught.value, TrickleError)
    assert caught.value.hint, f"no hint: {caught.value}"
    assert not re.match("[A-Z][a-z]", caught.value.message), "a message begins in lower case or with a keyword"
    assert db.head() == head
    assert lake.files() == files


def test_every_bad_statement_is_refused_and_leaves_nothing(
    filled: trickle.Session, lake: LakeSite, peer: DuckDBPeer, subtests: pytest.Subtests
) -> None:
    before = rows(filled.table("t"))
    for case, (statement, kind) in STATEMENTS.items():
        with subtests.test(case), refused(filled, lake, kind):
            result = filled.sql(statement)
            result.collect()
    for case, (call, kind) in CALLS.items():
        with subtests.test(case), refused(filled, lake, kind):
            call(filled)
    assert rows(filled.table("t")) == before
    assert peer.rows(lake.address, "FROM t").counts == before


def test_a_refused_statement_inside_a_transaction_leaves_the_transaction_usable_or_undone(
    filled: trickle.Session, lake: LakeSite
) -> None:
    with refused(filled, lake, QueryError), filled.transaction():
        filled.sql("INSERT INTO t VALUES (9, 'z')")
        filled.sql("INSERT INTO t VALUES (1)")
    assert rows(filled.sql("SELECT count(*) FROM t WHERE a = 9")) == {(0,): 1}


def test_an_unknown_setting_is_named_with_its_nearest(lake: LakeSite, spark: object, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        trickle.connect(str(tmp_path / "other"), settings={"lake.small_write_row": 1})
    assert "lake.small_write_rows" in caught.value.hint
    assert not (tmp_path / "other").exists()
