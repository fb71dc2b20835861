"""Queries become plans; what cannot is named with its place."""

from __future__ import annotations

import pytest

from trickle.errors import CycleDetected, NotFound, NotIncremental, QueryError
from trickle.plan import (
    Aggregate,
    Distinct,
    Filter,
    Generate,
    Join,
    Node,
    OuterJoin,
    Scan,
    SemiJoin,
    SetOp,
    TopK,
    Window,
    walk,
)
from trickle.plan.functions import Function, Kind, Parameter
from trickle.sql.lower import Query, Volatility, lower
from trickle.sql.render import render

SCHEMAS = {
    "orders": [("id", "BIGINT"), ("customer", "INT"), ("amount", "DECIMAL(12,2)"), ("items", "ARRAY<STRING>")],
    "customers": [("id", "INT"), ("Name", "STRING"), ("address", "STRUCT<city: STRING>")],
    "main.größe": [("Maß ß", "INT")],
}


def read(query: str, **more: object) -> Query:
    return lower(query, SCHEMAS, **more)  # type: ignore[arg-type]


def python_function(name: str, kind: Kind = Kind.PYTHON, deterministic: bool = True) -> Function:
    return Function(name, kind, (), "INT", "", deterministic, hash="f00")


def kinds(plan: Node) -> list[str]:
    return [type(n).__name__ for n in walk(plan)]


@pytest.mark.parametrize(
    ("query", "node"),
    [
        ("SELECT id FROM orders WHERE amount > 1", Filter),
        ("SELECT 1 AS x FROM orders o, customers c", Join),
        ("SELECT 1 AS x FROM orders o RIGHT JOIN customers c ON o.customer = c.id", OuterJoin),
        ("SELECT id FROM orders LEFT SEMI JOIN customers c ON customer = c.id", SemiJoin),
        ("SELECT id FROM orders WHERE customer IN (SELECT id FROM customers)", SemiJoin),
        ("SELECT id FROM orders o WHERE NOT EXISTS (SELECT 1 FROM customers c WHERE c.id = o.customer)", SemiJoin),
        ("SELECT customer, sum(amount) AS total FROM orders GROUP BY customer", Aggregate),
        ("SELECT DISTINCT customer FROM orders", Distinct),
        ("SELECT id FROM orders INTERSECT SELECT id FROM customers", SetOp),
        ("SELECT rank() OVER (PARTITION BY customer ORDER BY amount) AS r FROM orders", Window),
        ("SELECT id FROM orders ORDER BY amount DESC LIMIT 3", TopK),
        ("SELECT id, item FROM orders LATERAL VIEW explode(items) x AS item", Generate),
    ],
)
def test_constructs_become_operators(query: str, node: type[Node]) -> None:
    assert any(isinstance(n, node) for n in walk(read(query).plan))


def test_labels_are_the_querys_and_may_repeat() -> None:
    query = read("SELECT o.id, c.id, count(*) OVER (), o.* EXCEPT (items) FROM orders o JOIN customers c USING (id)")
    assert query.labels[:2] == ("id", "id")
    assert len(set(query.plan.names)) == len(query.plan.names)


@pytest.mark.parametrize(
    ("call", "written"),
    [
        ("hash(*)", "HASH(`id_1`, `Name_2`, `address_3`)"),
        ("count(DISTINCT *)", "COUNT(DISTINCT `id_1`, `Name_2`, `address_3`)"),
        ("count(*)", "COUNT(*)"),
        ("struct(* EXCEPT (address))", "STRUCT(`id_1` AS `id`, `Name_2` AS `Name`)"),
    ],
)
def test_a_star_inside_a_call_is_written_out(call: str, written: str) -> None:
    query = read(f"SELECT {call} AS x FROM customers c")
    assert written in render(query.plan, lambda table, version: table, query.labels)


def test_using_shows_the_shared_column_once() -> None:
    assert read("SELECT * FROM orders JOIN customers USING (id)").labels == (
        "id", "customer", "amount", "items", "Name", "address",
    )  # fmt: skip


def test_natural_joins_share_what_has_the_same_name() -> None:
    assert read("SELECT * FROM orders NATURAL JOIN customers").labels[0] == "id"


def test_names_are_found_without_case() -> None:
    assert read("SELECT NAME FROM Customers").labels == ("NAME",)


def test_quoted_and_unicode_names() -> None:
    query = read("SELECT `Maß ß` + 1 AS `neues Maß` FROM main.`größe`")
    assert query.labels == ("neues Maß",)
    assert query.tables == {"main.größe"}


def test_struct_fields_are_reached() -> None:
    assert read("SELECT c.address.city FROM customers c").labels == ("city",)
    assert read("SELECT address.city FROM customers").labels == ("city",)


def test_group_by_takes_ordinals_aliases_and_all() -> None:
    by_name = read("SELECT customer % 2 AS odd, count(*) AS n FROM orders GROUP BY odd").plan
    by_place = read("SELECT customer % 2 AS odd, count(*) AS n FROM orders GROUP BY 1").plan
    by_all = read("SELECT customer % 2 AS odd, count(*) AS n FROM orders GROUP BY ALL").plan
    assert by_name == by_place == by_all


def test_later_items_may_use_earlier_aliases() -> None:
    assert read("SELECT id + 1 AS x, x * 2 AS y FROM orders").labels == ("x", "y")


def test_views_and_ctes_are_inlined() -> None:
    views = {"big": "SELECT id, customer FROM orders WHERE amount > 100"}
    query = read("WITH x AS (SELECT * FROM big) SELECT a.id FROM x a JOIN x b ON a.id = b.id", views=views)
    assert query.tables == {"orders"}
    scans = {id(n) for n in walk(query.plan) if isinstance(n, Scan)}
    assert len(scans) == 1, "a CTE read twice is one part of the plan"


def test_a_view_inside_itself_is_refused() -> None:
    with pytest.raises(CycleDetected, match="v"):
        read("SELECT * FROM v", views={"v": "SELECT * FROM w", "w": "SELECT * FROM v"})


def test_not_in_is_aware_of_nulls() -> None:
    (join,) = [n for n in walk(read("SELECT id FROM orders WHERE id NOT IN (SELECT id FROM customers)").plan)
               if isinstance(n, SemiJoin)]  # fmt: skip
    assert join.anti
    assert "IS NULL" in join.on.sql()


def test_postgres_dialect() -> None:
    query = read("SELECT id::text AS t, amount FROM orders WHERE amount = ANY (SELECT 1)", dialect="postgres")
    assert query.labels == ("t", "amount")
    assert "SemiJoin" in kinds(query.plan)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT nme FROM customers", r'column "nme" does not exist at line 1, column 8'),
        ("SELECT id\nFROM orders o\nJOIN customers c ON id = 1", r'"id" is ambiguous'),
        ("SELECT id, sum(amount) AS s FROM orders GROUP BY customer", "neither grouped nor aggregated"),
        ("SELECT id FROM orders UNION ALL SELECT id, Name FROM customers", "1 and 2 columns"),
        ("SELECT id FROM orders GROUP BY 3", "position 3"),
        ("SELECT id AS __w FROM orders", "reserved"),
        ("SELECT FROM WHERE", "cannot be parsed"),
        ("SELECT id, sum(amount) OVER w AS s FROM orders", 'window "w" is not defined'),
        ("DELETE FROM orders", "expected one query"),
        ("SELECT count(o.*) AS n FROM orders o", r"COUNT\(o.\*\) is not allowed"),
        ("SELECT nothing.* FROM orders", '"nothing" is not in the FROM clause'),
        (
            "SELECT 1 AS x FROM orders o JOIN customers PIVOT (max(Name) FOR id IN (1)) ON true",
            "PIVOT must stand behind",
        ),
        ("SELECT 1 AS x FROM (orders o JOIN customers c ON true) AS t(a)", "1 column aliases for 7 columns"),
        ("SELECT id FROM orders WHERE (id, 1) IN (SELECT id FROM customers)", "2 values"),
    ],
)
def test_wrong_queries_say_what_and_where(query: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        read(query)


@pytest.mark.parametrize(
    ("query", "clause"),
    [
        ("SELECT id FROM orders FOR UPDATE", "FOR UPDATE"),
        ("SELECT id INTO x FROM orders", "SELECT INTO"),
        ("SELECT * FROM generate_series(1, 3) WITH ORDINALITY AS t(n, place)", "ORDINALITY"),
        ("SELECT id FROM ONLY orders", "ONLY"),
    ],
)
def test_a_clause_that_nobody_reads_is_refused(query: str, clause: str) -> None:
    with pytest.raises(NotIncremental, match=clause):
        read(query, dialect="postgres")


@pytest.mark.parametrize(
    ("generator", "labels"),
    [
        ("explode(m)", ("key", "value")),
        ("posexplode(m)", ("pos", "key", "value")),
        ("explode(l)", ("col",)),
        ("inline(l)", ("x", "y")),
        ("inline_outer(l)", ("x", "y")),
        ("json_tuple(s, 'a', 'b')", ("c0", "c1")),
        ("stack(2, 1, 'a', 2, 'b')", ("col0", "col1")),
    ],
)
@pytest.mark.parametrize("text", ["SELECT {} FROM t", "SELECT e.* FROM t LATERAL VIEW {} e", "SELECT *, {} FROM t"])
def test_generated_columns_have_the_names_that_spark_gives(text: str, generator: str, labels: tuple[str, ...]) -> None:
    schema = [("m", "map<string,int>"), ("l", "array<struct<x:int,y:string>>"), ("s", "string")]
    beside = ("m", "l", "s") if "*," in text else ()
    assert lower(text.format(generator), {"t": schema}).labels == (*beside, *labels)


def test_a_near_name_is_suggested() -> None:
    with pytest.raises(QueryError) as error:
        read("SELECT nam FROM customers")
    assert "Name" in error.value.hint


def test_an_unknown_table_is_not_found() -> None:
    with pytest.raises(NotFound, match='table "nowhere" does not exist at line 1, column 15'):
        read("SELECT * FROM nowhere")


def test_a_cast_of_an_unknown_type_in_postgres_is_refused() -> None:
    with pytest.raises(QueryError, match="whether the cast rounds cannot be seen"):
        read("SELECT nobody_knows(id)::int AS n FROM orders", dialect="postgres")


def test_casts_inside_casts_round_in_postgres() -> None:
    query = read("SELECT (amount::int + 0.5)::int AS n FROM orders", dialect="postgres")
    text = render(query.plan, lambda table, version: table, query.labels)
    assert "CAST(ROUND((CAST(ROUND(`amount_3`) AS INT) + 0.5)) AS INT)" in text


@pytest.mark.parametrize(
    ("query", "construct"),
    [
        ("SELECT id FROM orders LIMIT 3", "LIMIT without ORDER BY"),
        ("SELECT id FROM orders o RIGHT JOIN LATERAL (SELECT 1 AS x) l", "LATERAL"),
        ("SELECT id, explode(items) FROM orders GROUP BY id", "generator among groups"),
        ("SELECT o.id FROM orders o LEFT JOIN customers c ON c.id IN (SELECT 1)", "subquery in ON"),
        ("SELECT explode(flatten(collect_list(items))) AS x FROM orders", "generator among groups"),
        ("SELECT id FROM orders TABLESAMPLE (10 PERCENT)", "TABLESAMPLE"),
        ("SELECT map(1, id) AS m, count(*) AS n FROM orders GROUP BY map(1, id)", "GROUP BY of a map"),
        ("SELECT DISTINCT map(1, id) AS m FROM orders", "DISTINCT of a map"),
        ("SELECT map(1, id) AS m FROM orders EXCEPT SELECT map(1, id) FROM orders", "EXCEPT of a map"),
        ("SELECT session_window(id, '5 minutes') AS w FROM orders", r"session_window\(\)"),
        ("SELECT window(id, '5 minutes') AS w FROM orders", r"window\(\)"),
        ("SELECT first_value(id) FILTER (WHERE id > 1) OVER (ORDER BY id) AS x FROM orders", "FILTER of first"),
        (
            "SELECT id, (SELECT count(*) FROM customers c RIGHT JOIN orders p ON c.id = o.id) AS n FROM orders o",
            "a join within a subquery",
        ),
        ("SELECT * FROM orders PIVOT (sum(amount) FOR id IN (SELECT id FROM customers))", "PIVOT by values"),
        ("SELECT * FROM nowhere(1)", r"nowhere\(\) in FROM"),
        ("SELECT id FROM orders UNION SELECT address FROM customers", "UNION of BIGINT and STRUCT<CITY: STRING>"),
        ("SELECT id FROM orders ANTI JOIN customers USING (id) TABLESAMPLE (10 PERCENT)", "TABLESAMPLE"),
        ("SELECT id FROM orders UNION SELECT id FROM orders ORDER BY (SELECT 1) LIMIT 1", "a subquery in ORDER BY"),
        ("SELECT id, inline(from_json('[]', Name)) FROM customers", r"inline\(\) without names"),
        (
            "SELECT id, x.* FROM customers LATERAL VIEW explode(from_json(Name, '')) t AS x",
            "a star of what is not",
        ),
        ("SELECT TRANSFORM (id) USING 'cat' AS (id) FROM orders", "TRANSFORM"),
        ("SELECT map(*) AS m FROM customers", r"map\(\*\)"),
    ],
)
def test_what_has_no_rule_is_named(query: str, construct: str) -> None:
    with pytest.raises(NotIncremental, match=construct):
        read(query)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ("rand()", Volatility.RANDOM),
        ("uuid()", Volatility.RANDOM),
        ("shuffle(items)", Volatility.RANDOM),
        ("uniform(1, 5)", Volatility.RANDOM),
        ("reflect('java.util.UUID', 'randomUUID')", Volatility.RANDOM),
        ("DATE 'today'", Volatility.CLOCK),
        ("CAST('now' AS TIMESTAMP)", Volatility.CLOCK),
        ("to_date('yesterday')", Volatility.CLOCK),
        ("current_timezone()", Volatility.CLOCK),
        ("session_user()", Volatility.SESSION),
        ("current_database()", Volatility.SESSION),
        ("current_date", Volatility.CLOCK),
        ("now()", Volatility.CLOCK),
        ("current_user()", Volatility.SESSION),
    ],
)
def test_functions_that_vary_are_classified_and_refused(call: str, kind: Volatility) -> None:
    query = read(f"SELECT id, {call} AS x FROM orders")
    assert [v.volatility for v in query.volatile] == [kind]
    with pytest.raises(NotIncremental, match="cannot be maintained"):
        query.require_deterministic()


@pytest.mark.parametrize(
    "call", ["DATE '2024-01-01'", "CAST('now' AS STRING)", "to_date(Name)", "unix_timestamp(Name)"]
)
def test_functions_of_their_arguments_are_not_refused(call: str) -> None:
    assert not read(f"SELECT id, {call} AS x FROM customers").volatile


@pytest.mark.parametrize("frame", ["ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES", "GROUPS 1 PRECEDING"])
def test_frames_that_the_engine_lacks_are_wrong(frame: str) -> None:
    with pytest.raises(QueryError, match="a window frame cannot"):
        lower(f"SELECT count(*) OVER (ORDER BY id {frame}) AS n FROM orders", SCHEMAS, dialect="postgres")


def test_a_declared_function_is_believed() -> None:
    text = "SELECT my_fn(id) AS x FROM orders"
    query = read(text, functions={"my_fn": python_function("my_fn", deterministic=False)})
    assert [(v.function, v.volatility) for v in query.volatile] == [("my_fn()", Volatility.DECLARED)]
    assert not read(text, functions={"my_fn": python_function("my_fn")}).volatile


def test_an_order_without_limit_is_noted() -> None:
    assert "ORDER BY without LIMIT" in read("SELECT id FROM orders ORDER BY id").notes[0]


def test_a_user_aggregate_groups() -> None:
    functions = {"my_agg": python_function("my_agg", Kind.AGGREGATE)}
    query = read("SELECT my_agg(amount) AS x FROM orders", functions=functions)
    assert "Aggregate" in kinds(query.plan)


def test_a_sql_function_is_written_out_wherever_it_is_called() -> None:
    net = Function("net", Kind.SQL, (Parameter("x", "INT"), Parameter("y", "INT")), "BIGINT", "X - y", True)
    query = read("SELECT sum(net(customer, 1 + 1)) AS n FROM orders GROUP BY net(id, 1)", functions={"net": net})
    text = render(query.plan, lambda table, _: table, query.labels)
    assert text.count("1 + 1") == 1
    assert "NET(" not in text.upper()
    assert [c.type for c in query.plan.columns] == ["BIGINT"]


def test_a_function_needs_its_arguments() -> None:
    one = Function("one", Kind.SQL, (Parameter("x", "INT"),), "INT", "x", True)
    with pytest.raises(QueryError, match=r"one\(\) was called with 2 arguments"):
        read("SELECT one(1, 2) AS x", functions={"one": one})


def test_a_function_that_nobody_knows_is_refused_before_groups_are_looked_at() -> None:
    with pytest.raises(NotIncremental, match=r"strange\(\) cannot be maintained incrementally at line 1, column 8"):
        read("SELECT strange(amount) AS x FROM orders GROUP BY customer", is_builtin=lambda name: name != "strange")


@pytest.mark.parametrize(
    "call", ["f(x) OVER (PARTITION BY k)", "f(x) FILTER (WHERE x > 1)", "f(DISTINCT x)", "f(x, k)"]
)
def test_calls_of_an_aggregate_become_lists_of_rows(call: str) -> None:
    functions = {"f": python_function("f", Kind.AGGREGATE)}
    plan = lower(f"SELECT {call} AS v FROM t", {"t": [("k", "INT"), ("x", "INT")]}, functions=functions)
    text = render(plan.plan, lambda table, _: table, plan.labels).lower()
    assert "__trickle_f_f00(sort_array(" in text
    assert "collect_list(" in text
    assert not plan.volatile


def test_grouping_sets_are_counted_before_they_are_written_out() -> None:
    wide = {"t": [(f"c{n}", "INT") for n in range(40)]}
    cube = f"SELECT count(*) AS n FROM t GROUP BY CUBE ({', '.join(name for name, _ in wide['t'])})"
    with pytest.raises(NotIncremental, match="more than 64 grouping sets"):
        lower(cube, wide)
    two = "SELECT customer, id, count(*) AS n FROM orders GROUP BY ROLLUP (customer, id)"
    assert read(two, most_sets=3).labels == ("customer", "id", "n")
    with pytest.raises(NotIncremental, match="more than 2 grouping sets"):
        read(two, most_sets=2)
