import pytest

from trickle.errors import QueryError
from trickle.sql.parse import parse
from trickle.sql.statement import Delete, Insert, Merge, MergeClause, Name, Update

T = Name(None, "t")


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("INSERT INTO t VALUES (1, DEFAULT), (2, 'a,b')", Insert(T, "VALUES (1, DEFAULT), (2, 'a,b')")),
        ("INSERT INTO TABLE t SELECT 1", Insert(T, "SELECT 1")),
        ("INSERT INTO t (a, `b c`) SELECT 1, 2", Insert(T, "SELECT 1, 2", ("a", "b c"))),
        ("INSERT INTO t (SELECT 1)", Insert(T, "(SELECT 1)")),
        ("INSERT INTO t (a) (SELECT 1)", Insert(T, "(SELECT 1)", ("a",))),
        ("INSERT INTO t ((SELECT 1) UNION (SELECT 2))", Insert(T, "((SELECT 1) UNION (SELECT 2))")),
        ("INSERT INTO t WITH a AS (SELECT 1) SELECT * FROM a", Insert(T, "WITH a AS (SELECT 1) SELECT * FROM a")),
        ("INSERT INTO t TABLE u", Insert(T, "TABLE u")),
        ("INSERT OVERWRITE t SELECT 1", Insert(T, "SELECT 1", overwrite=True)),
        ("INSERT INTO t BY NAME SELECT 1 AS a", Insert(T, "SELECT 1 AS a", by_name=True)),
        ("INSERT INTO t SELECT a FROM u JOIN v ON u.x = v.x", Insert(T, "SELECT a FROM u JOIN v ON u.x = v.x")),
        ("UPDATE t SET a = 1", Update(T, (("a", "1"),))),
        ("UPDATE t AS x SET x.a = b, b = a WHERE c", Update(T, (("a", "b"), ("b", "a")), "x", "c")),
        ("UPDATE s.t SET s.t.a = 1, t.b = 2", Update(Name("s", "t"), (("a", "1"), ("b", "2")))),
        ("UPDATE t SET a = DEFAULT", Update(T, (("a", "DEFAULT"),))),
        (
            "UPDATE t x SET a = CASE WHEN b THEN (SELECT max(c) FROM u WHERE d) END WHERE e IS DISTINCT FROM 1",
            Update(T, (("a", "CASE WHEN b THEN (SELECT max(c) FROM u WHERE d) END"),), "x", "e IS DISTINCT FROM 1"),
        ),
        ("DELETE FROM t", Delete(T)),
        ("DELETE FROM t AS x WHERE x.a IN (SELECT a FROM u)", Delete(T, "x", "x.a IN (SELECT a FROM u)")),
        ("DELETE FROM t WHERE a = 1 -- all\n;", Delete(T, None, "a = 1")),
    ],
)
def test_a_change_reads_as_its_value(text: str, statement: Insert | Update | Delete) -> None:
    assert parse(text) == statement


def test_a_merge_has_all_kinds_of_clauses() -> None:
    made = parse(
        """MERGE INTO s.t AS x USING (SELECT 1 AS id) AS y (id) ON x.id = y.id AND CASE WHEN true THEN true END
        WHEN MATCHED AND CASE WHEN y.id > 1 THEN true END THEN DELETE
        WHEN MATCHED THEN UPDATE SET x.a = CASE WHEN b THEN 1 END, b = DEFAULT
        WHEN NOT MATCHED BY TARGET AND y.id IS NOT NULL THEN INSERT (id, a) VALUES (y.id, coalesce(1, 2))
        WHEN NOT MATCHED THEN INSERT *
        WHEN NOT MATCHED BY SOURCE AND x.a < 3 THEN UPDATE SET a = 0
        WHEN NOT MATCHED BY SOURCE THEN DELETE"""
    )
    assert made == Merge(
        Name("s", "t"),
        "(SELECT 1 AS id)",
        "x.id = y.id AND CASE WHEN true THEN true END",
        (
            MergeClause("matched", "delete", "CASE WHEN y.id > 1 THEN true END"),
            MergeClause("matched", "update", None, (("a", "CASE WHEN b THEN 1 END"), ("b", "DEFAULT"))),
            MergeClause("not_matched", "insert", "y.id IS NOT NULL", (), ("id", "a"), ("y.id", "coalesce(1, 2)")),
            MergeClause("not_matched", "insert_all"),
            MergeClause("not_matched_by_source", "update", "x.a < 3", (("a", "0"),)),
            MergeClause("not_matched_by_source", "delete"),
        ),
        "x",
        "y",
        ("id",),
    )


@pytest.mark.parametrize(
    "source", ["u", "s.u", "`u u`", "u VERSION AS OF 3", "u TIMESTAMP AS OF now() - INTERVAL 1 DAY"]
)
@pytest.mark.parametrize("alias", [None, "y"])
def test_the_source_of_a_merge_is_a_table_at_any_snapshot(source: str, alias: str | None) -> None:
    made = parse(f"MERGE INTO t USING {source} {alias or ''} ON true WHEN MATCHED THEN UPDATE SET *")
    assert made == Merge(T, source, "true", (MergeClause("matched", "update_all"),), None, alias)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("INSERT t VALUES (1)", "expected INTO"),
        ("INSERT INTO t", "expected a query"),
        ("INSERT INTO t PARTITION (a = 1) SELECT 1", "PARTITION"),
        ("INSERT INTO t REPLACE WHERE a SELECT 1", "REPLACE"),
        ("INSERT INTO t DEFAULT VALUES", "DEFAULT"),
        ("INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING", "ON CONFLICT"),
        ("INSERT INTO t VALUES (1) RETURNING a", "RETURNING"),
        ("INSERT INTO t (a, A) VALUES (1, 2)", "twice"),
        ("INSERT INTO t (a.b) VALUES (1)", r"expected \)"),
        ("UPDATE t SET", "expected a column name"),
        ("UPDATE t SET a", "expected ="),
        ("UPDATE t SET a = ", "expected an expression"),
        ("UPDATE t SET a = 1 FROM u WHERE b", "FROM is not supported in UPDATE"),
        ("UPDATE t SET a = 1 WHERE b RETURNING a", "RETURNING"),
        ("UPDATE t SET (a, b) = (1, 2)", "at once"),
        ("UPDATE t SET a.b = 1", "not a column"),
        ("UPDATE t x SET t.a = 1", "not a column"),
        ("UPDATE t SET a = 1, A = 2", "twice"),
        ("UPDATE t SET a = 1 WHERE", "expected an expression"),
        ("DELETE t", "expected FROM"),
        ("DELETE FROM t USING u", "USING is not supported in DELETE"),
        ("DELETE FROM t WHERE a LIMIT 3", "LIMIT"),
        ("DELETE FROM t WHERE a, b", '","'),
        ("TRUNCATE t, u", '","'),
        ("MERGE t USING u ON true WHEN MATCHED THEN DELETE", "expected INTO"),
        ("MERGE INTO t USING u ON true", "needs a WHEN"),
        ("MERGE INTO t USING (u) ON true WHEN MATCHED THEN DELETE", "expected a query"),
        ("MERGE INTO t USING u ON true WHEN MATCHED THEN INSERT *", "cannot INSERT"),
        ("MERGE INTO t USING u ON true WHEN NOT MATCHED THEN DELETE", "cannot DELETE"),
        ("MERGE INTO t USING u ON true WHEN NOT MATCHED THEN INSERT VALUES (1)", "needs its columns"),
        ("MERGE INTO t USING u ON true WHEN NOT MATCHED THEN INSERT (a) VALUES (1, 2)", "1 columns but 2 values"),
        ("MERGE INTO t USING u ON true WHEN MATCHED THEN DELETE WHEN MATCHED AND a THEN DELETE", "never apply"),
        ("MERGE INTO t USING u ON true WHEN MATCHED DELETE", "expected THEN"),
        ("MERGE INTO t USING u ON true WHEN MATCHED THEN DELETE RETURNING 1", "RETURNING"),
    ],
)
def test_a_change_that_is_not_understood_is_refused_by_name(text: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        parse(text)


def test_a_postgresql_condition_is_translated() -> None:
    made = parse("UPDATE \"T t\" SET a = b::text WHERE c ~ 'x'", "postgres")
    assert made == Update(Name(None, "T t"), (("a", "CAST(b AS STRING)"),), None, "c RLIKE 'x'")
