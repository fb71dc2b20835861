import pytest

from trickle.errors import QueryError
from trickle.sql.parse import parse
from trickle.sql.statement import (
    AlterStreamTable,
    Begin,
    Call,
    Commit,
    CreateSchema,
    CreateStreamTable,
    CreateView,
    Describe,
    DropSchema,
    DropStreamTable,
    DropTable,
    DropView,
    ExplainStreamTable,
    Name,
    Query,
    RefreshStreamTable,
    Rollback,
    Show,
    Statement,
    Truncate,
)

T, ST = Name(None, "t"), Name("s", "t")


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("SELECT 1", Query("SELECT 1")),
        ("  -- why\n SELECT ';' ; ; ", Query("SELECT ';'")),
        ("(SELECT 1) UNION ALL (SELECT 2)", Query("(SELECT 1) UNION ALL (SELECT 2)")),
        ("WITH a AS (SELECT 1) SELECT * FROM a", Query("WITH a AS (SELECT 1) SELECT * FROM a")),
        ("VALUES (1), (2)", Query("VALUES (1), (2)")),
        ("TABLE t", Query("TABLE t")),
        ("FROM t |> WHERE a", Query("FROM t |> WHERE a")),
        ("EXPLAIN FORMATTED SELECT 1", Query("EXPLAIN FORMATTED SELECT 1")),
        ("DROP TABLE IF EXISTS s.t CASCADE", DropTable(ST, True, True)),
        ("drop table t restrict;", DropTable(T)),
        ("DROP TABLE `table`", DropTable(Name(None, "table"))),
        ('DROP TABLE "my table"', DropTable(Name(None, "my table"))),
        ("DROP TABLE `a.b`.`c``d`", DropTable(Name("a.b", "c`d"))),
        ("DROP TABLE größe", DropTable(Name(None, "größe"))),
        ("CREATE SCHEMA IF NOT EXISTS s", CreateSchema("s", True)),
        ("CREATE DATABASE s", CreateSchema("s")),
        ("DROP SCHEMA s CASCADE", DropSchema("s", cascade=True)),
        ("CREATE OR REPLACE VIEW s.t (a, b) AS SELECT 1, 2", CreateView(ST, "SELECT 1, 2", ("a", "b"), True)),
        ("CREATE VIEW IF NOT EXISTS t AS SELECT 1", CreateView(T, "SELECT 1", if_not_exists=True)),
        ("DROP VIEW IF EXISTS t", DropView(T, True)),
        ("TRUNCATE t", Truncate(T)),
        ("TRUNCATE TABLE s.t", Truncate(ST)),
        ("BEGIN", Begin()),
        ("BEGIN TRANSACTION", Begin()),
        ("START TRANSACTION", Begin()),
        ("COMMIT WORK", Commit()),
        ("ROLLBACK", Rollback()),
        ("SHOW TABLES", Show("tables")),
        ("SHOW TABLES IN s", Show("tables", "s")),
        ("SHOW VIEWS FROM s", Show("views", "s")),
        ("SHOW SCHEMAS", Show("schemas")),
        ("SHOW STREAM TABLES", Show("stream tables")),
        ("SHOW COLUMNS IN s.t", Show("columns", table=ST)),
        ("DESCRIBE TABLE t", Describe(T)),
        ("DESC s.t", Describe(ST)),
        ("DESCRIBE table", Describe(Name(None, "table"))),
        ("DROP STREAM TABLE IF EXISTS t CASCADE", DropStreamTable(T, True, True)),
        ("DROP MATERIALIZED VIEW t", DropStreamTable(T)),
        ("REFRESH STREAM TABLE t FULL", RefreshStreamTable(T, True)),
        ("REFRESH MATERIALIZED VIEW s.t", RefreshStreamTable(ST)),
        ("EXPLAIN STREAM TABLE t", ExplainStreamTable(T)),
        ("EXPLAIN ANALYZE STREAM TABLE t", ExplainStreamTable(T, True)),
        ("ALTER STREAM TABLE t SUSPEND", AlterStreamTable(T, suspend=True)),
        ("ALTER STREAM TABLE t RESUME", AlterStreamTable(T, resume=True)),
        ("ALTER STREAM TABLE t AS SELECT 1", AlterStreamTable(T, query="SELECT 1")),
        ("ALTER STREAM TABLE t SET (fuse = 'off')", AlterStreamTable(T, (("fuse", "off"),))),
    ],
)
def test_a_statement_reads_as_its_value(text: str, statement: Statement) -> None:
    assert parse(text) == statement


def test_the_query_of_a_stream_table_is_kept_as_written() -> None:
    query = "SELECT  a, -- the key\n  'it''s' /* c /* d */ */ FROM `o o` WHERE b <=> 5L"
    made = parse(f"CREATE OR REPLACE STREAM TABLE IF NOT EXISTS s.t AS {query} ; -- end")
    assert made == CreateStreamTable(ST, query, (), True, True)


def test_options_are_literals_of_every_kind() -> None:
    made = parse(
        "CREATE STREAM TABLE t WITH (schedule = '1m', refresh_mode = FULL, append_only = true, n = -3, r = 1.5e2, "
        "fuse = NULL, partition_by = ('a', 'b'), cluster_by = ARRAY['c'], \"Cdc_Mode\" => 'x') AS SELECT 1"
    )
    assert isinstance(made, CreateStreamTable)
    assert dict(made.options) == {
        "schedule": "1m",
        "refresh_mode": "FULL",
        "append_only": True,
        "n": -3,
        "r": 150.0,
        "fuse": None,
        "partition_by": ("a", "b"),
        "cluster_by": ("c",),
        "cdc_mode": "x",
    }


def test_a_materialized_view_with_the_stream_option_is_a_stream_table() -> None:
    made = parse("CREATE MATERIALIZED VIEW t WITH (trickle.stream = true, trickle.refresh_mode = 'FULL') AS SELECT 1")
    assert made == CreateStreamTable(T, "SELECT 1", (("refresh_mode", "FULL"),))
    lazy = parse("CREATE MATERIALIZED VIEW t WITH (trickle.stream = true) AS SELECT 1 WITH NO DATA")
    assert lazy == CreateStreamTable(T, "SELECT 1", (("initialize", False),))


@pytest.mark.parametrize("options", ["", "WITH (trickle.stream = false)", "WITH (stream = true)"])
def test_a_plain_materialized_view_is_refused_with_the_way_out(options: str) -> None:
    with pytest.raises(QueryError, match='"t" is not a stream table') as caught:
        parse(f"CREATE MATERIALIZED VIEW t {options} AS SELECT 1")
    assert "trickle.stream = true" in caught.value.hint


def test_a_call_has_positional_and_named_arguments() -> None:
    made = parse("CALL trickle.create_stream_table('x', $$SELECT ';' FROM t$$, schedule => '5m', Full => TRUE)")
    assert isinstance(made, Call)
    assert made.function == "create_stream_table"
    assert made.args == ("x", "SELECT ';' FROM t")
    assert made.kwargs == {"schedule": "5m", "full": True}


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        (r"'it''s\t\u0041\101\%'", "it's\tAA\\%"),
        (r"'a\\''b'", "a\\'b"),
        ('"say ""hi"""', 'say "hi"'),
        (r"r'\n'", r"\n"),
        ("'a' 'b'", "ab"),
        ("$q$ $$ $q$", " $$ "),
        ("()", ()),
        ("5L", 5),
        ("- 2", -2),
        ("2.50BD", 2.5),
    ],
)
def test_a_literal_means_what_it_means_to_spark(literal: str, value: object) -> None:
    made = parse(f"CALL trickle.f({literal})")
    assert isinstance(made, Call)
    assert made.args == (value,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no statement"),
        (" ;; -- nothing", "no statement"),
        ("SELECT 1; SELECT 2", "more than one statement"),
        ("SELECT 1; DROP TABLE t", "more than one statement"),
        ("SELECT 'abc", "string is not closed"),
        ("SELECT `abc", "quoted name is not closed"),
        ("SELECT 1 /* /* */", "comment is not closed"),
        ("SELECT (1", r'"\(" is not closed'),
        ("SELECT 1)", "closes nothing"),
        ("SELECT (1]", "closes nothing"),
        ("FLY t", "does not start a statement"),
        ("SET a = 1", "does not start a statement"),
        ("`SELECT` 1", "does not start a statement"),
        ("DROP TABLE a.b.c", "too many parts"),
        ("DROP TABLE", "expected a table name, found the end"),
        ("DROP TABLE 'x'", "expected a table name"),
        ("DROP TABLE ``", "name is empty"),
        ("DROP TABLE x; y", "more than one statement"),
        ("DROP TABLE x y", '"y" is not supported in DROP TABLE'),
        ("DROP TABLE t PURGE", "PURGE"),
        ("DROP INDEX i", "DROP INDEX"),
        ("CREATE TEMPORARY VIEW v AS SELECT 1", "CREATE TEMPORARY"),
        ("CREATE FUNCTION f", "CREATE FUNCTION"),
        ("CREATE", "CREATE what"),
        ("CREATE VIEW v COMMENT 'x' AS SELECT 1", "clause COMMENT"),
        ("CREATE VIEW v AS DELETE FROM t", "expected a query"),
        ("CREATE VIEW v (a, a) AS SELECT 1, 2", "twice"),
        ("CREATE SCHEMA s LOCATION 'x'", "LOCATION"),
        ("CREATE STREAM TABLE t", "expected AS"),
        ("CREATE STREAM TABLE t WITH (a) AS SELECT 1", 'option "a" needs a value'),
        ("CREATE STREAM TABLE t WITH (a = 1, A = 2) AS SELECT 1", "twice"),
        ("CREATE STREAM TABLE t WITH (a = 1 + 1) AS SELECT 1", "expected"),
        ("ALTER STREAM TABLE t", "expected SET, AS, SUSPEND or RESUME"),
        ("ALTER STREAM TABLE t SUSPEND NOW", '"NOW" is not supported'),
        ("ALTER VIEW v AS SELECT 1", "ALTER VIEW"),
        ("REFRESH TABLE t", "expected STREAM TABLE"),
        ("REFRESH STREAM TABLE t CONCURRENTLY", "CONCURRENTLY"),
        ("CALL refresh('x')", "cannot be called"),
        ("CALL other.f()", "cannot be called"),
        ("CALL trickle.f", "expected"),
        ("CALL trickle.f(a => 1, 2)", "positional argument"),
        ("CALL trickle.f(a => 1, A => 2)", "twice"),
        ("CALL trickle.f(x)", "expected a literal"),
        ("CALL trickle.f(1,)", "after the comma"),
        ("CALL trickle.f(1 2)", "expected ,"),
        ("CALL trickle.f() extra", "extra"),
        ("EXPLAIN DROP TABLE t", "EXPLAIN takes"),
        ("SHOW FUNCTIONS", "SHOW FUNCTIONS"),
        ("WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a", "WITH before INSERT"),
        ("BEGIN SELECT 1", "not supported in BEGIN"),
    ],
)
def test_what_is_not_understood_is_refused_by_name(text: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        parse(text)


def test_an_error_shows_line_column_and_caret() -> None:
    with pytest.raises(QueryError) as caught:
        parse("DROP\n  TABLE a b")
    assert caught.value.detail == "line 2, column 11:\n    TABLE a b\n            ^"


def test_an_unknown_dialect_is_refused() -> None:
    with pytest.raises(QueryError, match='"cobol"'):
        parse("SELECT 1", "cobol")


@pytest.mark.parametrize("name", ["x; DROP TABLE y", "t` WHERE 1=1 --", "a'b", 'a"b', "/* c", "-- c"])
def test_a_hostile_name_ends_in_one_quoted_identifier(name: str) -> None:
    quoted = Name(None, name).quote_spark()
    assert parse(f"TRUNCATE TABLE {quoted}") == Truncate(Name(None, name))
    assert parse(f"DROP TABLE {quoted}") == DropTable(Name(None, name))


def test_postgresql_text_becomes_spark_sql() -> None:
    made = parse('CREATE STREAM TABLE "My Table" AS SELECT "a b"::text, \'back\\slash\' AS s FROM t', "postgres")
    assert isinstance(made, CreateStreamTable)
    assert made.name == Name(None, "My Table")
    assert "`a b`" in made.query
    assert "'back\\\\slash'" in made.query
