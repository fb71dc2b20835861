import pytest
import sqlglot
from sqlglot import exp
from sqlglot.optimizer.scope import traverse_scope

from trickle.errors import QueryError
from trickle.sql.dialects import SparkSql
from trickle.sql.references import (
    Timestamp,
    Version,
    expression_references,
    references,
    relation_references,
    splice,
)
from trickle.sql.statement import FunctionCall, Name

STANDARD = {
    "SELECT 1": [],
    "SELECT * FROM a": ["a"],
    "SELECT * FROM a, s.b AS x JOIN c ON x.i = c.i, d WHERE e IN (1, 2)": ["a", "s.b", "c", "d"],
    "SELECT a, b FROM t ORDER BY c, d": ["t"],
    "SELECT (SELECT max(x) FROM m) FROM t WHERE EXISTS (SELECT 1 FROM n WHERE n.i = t.i)": ["m", "t", "n"],
    "SELECT * FROM t WHERE i IN (SELECT i FROM u UNION SELECT i FROM v EXCEPT SELECT i FROM w)": ["t", "u", "v", "w"],
    "SELECT * FROM (SELECT * FROM a JOIN (SELECT * FROM b) AS x ON a.i = x.i) AS y": ["a", "b"],
    "SELECT * FROM (a JOIN b ON a.i = b.i) CROSS JOIN c": ["a", "b", "c"],
    "WITH a AS (SELECT * FROM b) SELECT * FROM a": ["b"],
    "WITH a AS (SELECT * FROM a) SELECT * FROM a": ["a"],
    "WITH a AS (SELECT 1 AS x), b AS (SELECT * FROM a) SELECT * FROM b, a, c": ["c"],
    "WITH b AS (SELECT * FROM a), a AS (SELECT 1 AS x) SELECT * FROM b, a": ["a"],
    "SELECT * FROM (WITH a AS (SELECT 1 AS x) SELECT * FROM a) AS y, a": ["a"],
    "WITH a AS (SELECT 1 AS x) SELECT * FROM s.a": ["s.a"],
    "WITH a AS (SELECT 1 AS x) SELECT * FROM t WHERE EXISTS (SELECT 1 FROM a)": ["t"],
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r JOIN b ON true) SELECT * FROM r": ["b"],
    "SELECT extract(YEAR FROM d), trim(BOTH ' ' FROM x) FROM t WHERE a IS DISTINCT FROM b": ["t"],
    "SELECT a IS NOT DISTINCT FROM b FROM t": ["t"],
    "SELECT * FROM a LEFT JOIN b USING (i) FULL OUTER JOIN c ON true LEFT SEMI JOIN d ON true": ["a", "b", "c", "d"],
    "SELECT CASE WHEN x IN (SELECT y FROM u) THEN 1 END AS z FROM t GROUP BY 1 HAVING count(*) > 1": ["u", "t"],
    "SELECT sum(x) OVER (PARTITION BY y ORDER BY z) FROM t": ["t"],
    "SELECT * FROM t PIVOT (sum(a) FOR b IN (1, 2))": ["t"],
    "SELECT * FROM t TABLESAMPLE (10 PERCENT) AS x": ["t"],
    "(SELECT * FROM a) UNION ALL (SELECT * FROM b)": ["a", "b"],
}

SPARK_ONLY = {
    "SELECT count(*) FROM ev GROUP BY window(ts, '10 seconds')": ["ev"],
    "SELECT * FROM range(10), explode(array(1)) AS e, s.fn(1), t": ["t"],
    "SELECT * FROM t LATERAL VIEW explode(x) y AS k, v WHERE k": ["t"],
    "SELECT * FROM a, LATERAL (SELECT * FROM b WHERE b.i = a.i) AS x": ["a", "b"],
    "SELECT * FROM VALUES (1, 2), (3, 4) AS v(a, b), t": ["t"],
    "SELECT * FROM (VALUES (1), (2)) AS v, t": ["t"],
    "SELECT * FROM VALUES 'a', NULL JOIN t": ["t"],
    "FROM t |> WHERE a > 1 |> JOIN u USING (i) |> SELECT a, b": ["t", "u"],
    "TABLE t": ["t"],
    "SELECT 1 UNION ALL TABLE t": ["t"],
    "SELECT * FROM fn(TABLE(a), 1), fn(TABLE b), fn(TABLE(SELECT * FROM c))": ["a", "b", "c"],
    "EXPLAIN EXTENDED SELECT * FROM t": ["t"],
    "SELECT trim(FROM x) FROM t": ["t"],
    'SELECT * FROM `x; DROP TABLE y`, "my table"': ["x; DROP TABLE y", "my table"],
    "SELECT * FROM größe": ["größe"],
    "SELECT 'FROM a', \"FROM b\" /* FROM c */ -- FROM d\n FROM e": ["e"],
    "SELECT * FROM parquet.`/etc/passwd`": ["parquet./etc/passwd"],
}


@pytest.mark.parametrize(("query", "names"), [*STANDARD.items(), *SPARK_ONLY.items()])
def test_every_table_is_found_and_nothing_else(query: str, names: list[str]) -> None:
    assert [r.name.label for r in references(query)] == names


@pytest.mark.parametrize("query", STANDARD)
def test_the_walk_agrees_with_a_full_parse(query: str) -> None:
    tree = sqlglot.parse_one(query, read=SparkSql)
    if isinstance(tree, exp.Subquery):
        tree = tree.unnest()
    tables = [s for scope in traverse_scope(tree) for s in scope.sources.values() if isinstance(s, exp.Table)]
    parsed = {".".join(part.name for part in table.parts) for table in tables}
    assert {r.name.label for r in references(query)} == parsed


@pytest.mark.parametrize(
    ("clause", "as_of"),
    [
        ("VERSION AS OF 3", Version(3)),
        ("FOR SYSTEM_VERSION AS OF '7'", Version(7)),
        ("TIMESTAMP AS OF '2024-01-01'", Timestamp("'2024-01-01'")),
        ("FOR SYSTEM_TIME AS OF DATE '2024-01-01'", Timestamp("DATE '2024-01-01'")),
        ("TIMESTAMP AS OF now() - INTERVAL 1 DAY", Timestamp("now() - INTERVAL 1 DAY")),
        ("TIMESTAMP AS OF (a + b)", Timestamp("(a + b)")),
        ("TIMESTAMP AS OF current_date()", Timestamp("current_date()")),
        ("TIMESTAMP AS OF '2024-01-01'::timestamp", Timestamp("'2024-01-01'::timestamp")),
    ],
)
@pytest.mark.parametrize("tail", ["", " AS x", " x", " WHERE a", " JOIN u ON true"])
def test_a_table_is_named_at_a_snapshot(clause: str, as_of: Version | Timestamp, tail: str) -> None:
    query = f"SELECT * FROM t {clause}{tail}"
    found = references(query)[0]
    assert found.as_of == as_of
    assert query[found.start : found.end] == f"t {clause}"
    assert found.alias_present == tail.endswith("x")


def test_version_is_a_good_alias() -> None:
    found = references("SELECT * FROM t version JOIN u ON true")[0]
    assert found.as_of is None
    assert found.alias_present


@pytest.mark.parametrize(
    ("tail", "alias"),
    [
        ("", False),
        (" o", True),
        (" AS o", True),
        (" `o`", True),
        (" WHERE a", False),
        (" limit", True),
        (" LIMIT 1", False),
        (" WINDOW w AS (ORDER BY a)", False),
        (" LEFT JOIN u ON true", False),
        (" TABLESAMPLE (1 ROWS) o", True),
        (" TABLESAMPLE (1 ROWS) REPEATABLE (3)", False),
        (" LATERAL VIEW explode(a) x", False),
        (" |> LIMIT 1", False),
    ],
)
def test_an_alias_is_told_from_a_clause(tail: str, alias: bool) -> None:
    assert references(f"SELECT * FROM t{tail}")[0].alias_present == alias


def test_a_trickle_function_is_a_reference_with_its_arguments() -> None:
    found = references("SELECT * FROM trickle.refresh_history('x', limit => 5) AS h")[0]
    assert found.name == Name("trickle", "refresh_history")
    assert found.function == FunctionCall("refresh_history", ("x",), (("limit", 5),))
    assert found.alias_present


def test_expressions_and_relations_have_references_too() -> None:
    assert [r.name.label for r in expression_references("a = 1 AND b IN (SELECT b FROM s.u)")] == ["s.u"]
    assert expression_references("extract(YEAR FROM d) = 2024") == []
    assert [r.name.label for r in relation_references("(SELECT * FROM a JOIN b)")] == ["a", "b"]
    assert relation_references("s.t VERSION AS OF 2")[0].as_of == Version(2)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT * FROM a.b.c", "too many parts"),
        ("SELECT * FROM", "expected a table name"),
        ("SELECT * FROM WHERE", None),
        ("SELECT * FROM 3", "expected a table name"),
        ("SELECT * FROM 't'", "expected a table name"),
        ("SELECT * FROM t VERSION AS OF x", "not a snapshot"),
        ("SELECT * FROM t WITH ('a' = 'b')", "options"),
        ("SELECT * FROM trickle.f(a)", "expected a literal"),
        ("WITH a SELECT 1", "in brackets"),
        ("SELECT * FROM (a", "not closed"),
    ],
)
def test_a_broken_query_is_refused_or_left_to_spark(query: str, message: str | None) -> None:
    if message is None:
        assert references(query)
        return
    with pytest.raises(QueryError, match=message):
        references(query)


def test_a_query_nested_beyond_reason_is_an_error_not_a_crash() -> None:
    with pytest.raises(QueryError, match="nested"):
        references("SELECT * FROM (" * 3000 + "SELECT 1" + ")" * 3000)
    assert references("SELECT " + "(" * 5000 + "1" + ")" * 5000 + " FROM t")[0].name.label == "t"


def spliced(query: str, new: str = "(X)") -> str:
    return splice(query, dict.fromkeys(references(query), new))


@pytest.mark.parametrize(
    ("query", "result"),
    [
        ("SELECT orders.id FROM orders", "SELECT orders.id FROM (X) AS `orders`"),
        ("SELECT o.id FROM s.orders  o", "SELECT o.id FROM (X)  o"),
        ("SELECT * FROM t VERSION AS OF 3 WHERE a", "SELECT * FROM (X) AS `t` WHERE a"),
        ("SELECT * FROM t TABLESAMPLE (1 ROWS)", "SELECT * FROM (X) TABLESAMPLE (1 ROWS) AS `t`"),
        ("SELECT main.t.a, t.b, main.t.* FROM t", "SELECT `t`.a, t.b, `t`.* FROM (X) AS `t`"),
        ("SELECT s.t.a FROM s.t", "SELECT `t`.a FROM (X) AS `t`"),
        ("SELECT S.`T`.a FROM s.t", "SELECT `t`.a FROM (X) AS `t`"),
        ("SELECT r.t.a FROM s.t", "SELECT r.t.a FROM (X) AS `t`"),
        ("SELECT t.t.a FROM s.t", "SELECT t.t.a FROM (X) AS `t`"),
        (
            "SELECT a.t.x, b.t.y FROM a.t JOIN b.t ON a.t.i = b.t.i",
            "SELECT `a.t`.x, `b.t`.y FROM (X) AS `a.t` JOIN (X) AS `b.t` ON `a.t`.i = `b.t`.i",
        ),
        ("SELECT * FROM a.t, b.t", "SELECT * FROM (X) AS `t`, (X) AS `t`"),
        ("TABLE t", "SELECT * FROM (X) AS `t`"),
        (
            "SELECT * FROM f(TABLE t), f(TABLE(u))",
            "SELECT * FROM f(TABLE (SELECT * FROM (X) AS `t`)), f(TABLE(SELECT * FROM (X) AS `u`))",
        ),
        ("SELECT * FROM `a``; DROP TABLE b`", "SELECT * FROM (X) AS `a``; DROP TABLE b`"),
        ("SELECT * FROM trickle.f()", "SELECT * FROM (X) AS `f`"),
        (
            "WITH c AS (SELECT * FROM t) SELECT * /* keep  */ FROM c\n",
            "WITH c AS (SELECT * FROM (X) AS `t`) SELECT * /* keep  */ FROM c\n",
        ),
    ],
)
def test_a_replaced_table_keeps_its_name_and_the_rest_its_bytes(query: str, result: str) -> None:
    assert spliced(query) == result


def test_only_the_given_references_are_replaced() -> None:
    query = "SELECT * FROM a, b"
    assert splice(query, {references(query)[1]: "(X)"}) == "SELECT * FROM a, (X) AS `b`"


def test_a_replacement_may_hold_braces_and_dots() -> None:
    assert spliced("TABLE t", "{0}.x.y") == "SELECT * FROM {0}.x.y AS `t`"


def test_a_name_that_stands_for_two_tables_is_refused() -> None:
    with pytest.raises(QueryError, match='"t" stands for tables of several schemas'):
        spliced("SELECT t.x FROM a.t WHERE EXISTS (SELECT 1 FROM b.t WHERE b.t.i = a.t.i)")
