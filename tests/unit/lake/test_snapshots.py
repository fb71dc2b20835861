"""What a snapshot says it did."""

from __future__ import annotations

from trickle.lake.snapshots import tokens, unquote


def test_names_with_commas_quotes_and_dots_are_read_whole() -> None:
    said = 'created_table:"main"."we""ird, na.me",inserted_into_table:3,deleted_from_table:3'
    assert tokens(said) == [
        ("created_table", '"main"."we""ird, na.me"'),
        ("inserted_into_table", "3"),
        ("deleted_from_table", "3"),
    ]
    assert unquote('"main"."we""ird, na.me"') == ("main", 'we"ird, na.me')


def test_nothing_said_is_nothing_read() -> None:
    assert tokens("") == []
