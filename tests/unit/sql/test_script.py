import pytest

from trickle.errors import QueryError
from trickle.sql.script import split


@pytest.mark.parametrize(
    ("script", "statements"),
    [
        ("", []),
        (" ; ;\n-- nothing;\n/* ; */", []),
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT 1;SELECT 2;", ["SELECT 1", "SELECT 2"]),
        ("SELECT ';', \";\", `;` ; SELECT 2", ["SELECT ';', \";\", `;`", "SELECT 2"]),
        ("SELECT 'it''s;' ; SELECT 'a\\';'", ["SELECT 'it''s;'", "SELECT 'a\\';'"]),
        ("SELECT 1 -- a; b\n, 2; -- end", ["SELECT 1 -- a; b\n, 2"]),
        ("SELECT /* ; /* ; */ ; */ 1; SELECT 2", ["SELECT /* ; /* ; */ ; */ 1", "SELECT 2"]),
        ("CALL trickle.f($$a; b$$); SELECT $x$ $$; $x$", ["CALL trickle.f($$a; b$$)", "SELECT $x$ $$; $x$"]),
    ],
)
def test_a_script_is_cut_at_its_own_semicolons(script: str, statements: list[str]) -> None:
    assert split(script) == statements


def test_postgresql_strings_know_no_backslash() -> None:
    assert split("SELECT 'a\\'; SELECT 2", "postgres") == ["SELECT 'a\\'", "SELECT 2"]


def test_an_open_string_is_an_error_that_shows_the_place() -> None:
    with pytest.raises(QueryError) as caught:
        split("SELECT 1;\nSELECT 'a; SELECT 2")
    assert "line 2, column 8" in caught.value.detail
