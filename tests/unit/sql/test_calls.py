"""Calls of user-defined functions in texts for Spark."""

from __future__ import annotations

import pytest

from trickle.errors import QueryError
from trickle.plan.functions import Function, Kind, Parameter
from trickle.sql.calls import expanded
from trickle.sql.function_body import check_body
from trickle.sql.parse import parse
from trickle.sql.statement import CreateFunction, DropFunction

NET = Function(
    "net", Kind.SQL, (Parameter("x", "INT"), Parameter("y", "INT")), "INT", "x - t.x - up(y) -- so", True, ("up",)
)
FUNCTIONS = {
    "net": NET,
    "up": Function("up", Kind.PYTHON, (), "INT", "", True, hash="a1"),
    "mid": Function("mid", Kind.AGGREGATE, (), "INT", "", True, hash="b2"),
}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("SELECT up( a ), s.up(b), up FROM t", "SELECT `__trickle_up_a1`(a), s.up(b), up FROM t"),
        ("SELECT `UP`(Up(a)) FROM t -- up(1)", "SELECT `__trickle_up_a1`(`__trickle_up_a1`(a)) FROM t -- up(1)"),
        ("SELECT 'up(1)'", "SELECT 'up(1)'"),
        ("mid(x)", "`__trickle_mid_b2`(sort_array(collect_list(struct(x))))"),
        (
            "mid(DISTINCT x, up(y)) FILTER (WHERE up(x) > 1) OVER w",
            "`__trickle_mid_b2`(sort_array(collect_list(DISTINCT struct(x, `__trickle_up_a1`(y))) "
            "FILTER (WHERE `__trickle_up_a1`(x) > 1) OVER w))",
        ),
        (
            "net(f(a, b), c)",
            "CAST((CAST((f(a, b)) AS INT) - t . x - `__trickle_up_a1` ( CAST((c) AS INT) )) AS INT)",
        ),
    ],
)
def test_a_text_is_rewritten_call_by_call(text: str, wanted: str) -> None:
    assert expanded(text, FUNCTIONS) == wanted


def test_a_call_with_too_few_arguments_is_refused() -> None:
    with pytest.raises(QueryError, match=r"net\(\) was called with 0 arguments"):
        expanded("SELECT net()", FUNCTIONS)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("x + z", '"z" is no parameter of it'),
        ("sum(x)", "has an aggregate in its body"),
        ("mid(x)", "has an aggregate in its body"),
        ("(SELECT 1)", "has a subquery in its body"),
        ("rank() OVER (ORDER BY x)", "has a window in its body"),
        ("x, x", "is not one expression"),
        ("x AS y", "is not one expression"),
        ("x +", "cannot be read"),
    ],
)
def test_a_body_is_one_expression_over_the_parameters(body: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        check_body("f", body, [Parameter("x", "INT")], FUNCTIONS)


def test_what_a_body_calls_says_whether_it_is_deterministic() -> None:
    odd = Function("odd", Kind.PYTHON, (), "INT", "", deterministic=False)
    assert check_body("f", "odd(1)", [], {"odd": odd}) == "odd() is declared not deterministic."
    assert check_body("f", "current_date()", [], {}) == "current_date() does not always answer the same."
    assert check_body("f", "upper('a')", [], {}) == ""


def test_the_statements_are_read_as_spark_spells_them() -> None:
    text = "CREATE OR REPLACE FUNCTION net(a INT, b DECIMAL(9, 2)) RETURNS DOUBLE NOT DETERMINISTIC RETURN a * (1 - b)"
    assert parse(text) == CreateFunction("net", "a INT, b DECIMAL(9, 2)", "DOUBLE", "a * (1 - b)", False, True)
    assert parse("CREATE FUNCTION one() RETURNS INT RETURN 1") == CreateFunction("one", "", "INT", "1")
    assert parse("DROP FUNCTION IF EXISTS net") == DropFunction("net", True)


@pytest.mark.parametrize(
    "text",
    [
        "CREATE FUNCTION f RETURNS INT RETURN 1",
        "CREATE FUNCTION f() RETURN 1",
        "CREATE FUNCTION f() RETURNS INT RETURN",
    ],
)
def test_half_a_statement_is_refused(text: str) -> None:
    with pytest.raises(QueryError, match="expected"):
        parse(text)
