"""DEFAULT inside VALUES."""

from __future__ import annotations

from trickle.execute.values import default_text, fill_defaults
from trickle.lake.model import Column

COLUMNS = [Column(1, "a", "int32", default="5"), Column(2, "b", "varchar", default="it's")]


def test_default_is_replaced_only_where_it_is_a_whole_value() -> None:
    text = "VALUES (DEFAULT, 'DEFAULT'), (f(DEFAULT, 1), default)"
    assert fill_defaults(text, COLUMNS) == "VALUES (CAST('5' AS int), 'DEFAULT'), (f(DEFAULT, 1), 'it\\'s')"


def test_a_column_without_default_becomes_null() -> None:
    assert default_text(Column(3, "c", "date")) == "NULL"


def test_an_expression_keeps_its_meaning_in_spark() -> None:
    column = Column(4, "d", "int32", default="(1 + 1)", default_kind="expression")
    assert default_text(column).replace(" ", "") == "(1+1)"
