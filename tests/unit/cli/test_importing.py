"""Which files become which tables. No Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from trickle.cli.commands.importing import sources
from trickle.errors import NotFound, QueryError


def touch(*files: Path) -> None:
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()


def test_a_file_is_a_table_and_a_folder_of_files_is_one(tmp_path: Path) -> None:
    touch(tmp_path / "Orders 2024.csv", tmp_path / "clicks" / "a.parquet", tmp_path / "clicks" / "b.parquet")
    found = sources([str(tmp_path / "Orders 2024.csv"), str(tmp_path / "clicks")])
    assert [(s.table, s.format, len(s.files)) for s in found] == [("orders_2024", "csv", 1), ("clicks", "parquet", 2)]


def test_a_folder_of_folders_is_a_table_for_each(tmp_path: Path) -> None:
    touch(tmp_path / "shop" / "orders" / "1.json", tmp_path / "shop" / "customers" / "1.csv.gz")
    found = sources([str(tmp_path / "shop")])
    assert {(s.table, s.format) for s in found} == {("orders", "json"), ("customers", "csv")}


def test_several_files_can_make_up_one_named_table(tmp_path: Path) -> None:
    touch(tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "c.json")
    [one] = sources([str(tmp_path / "a.csv"), str(tmp_path / "b.csv")], "all_orders")
    assert (one.table, len(one.files)) == ("all_orders", 2)
    with pytest.raises(QueryError, match="several formats"):
        sources([str(tmp_path / "a.csv"), str(tmp_path / "c.json")], "all_orders")


def test_what_cannot_be_imported_is_said(tmp_path: Path) -> None:
    touch(tmp_path / "notes.txt", tmp_path / "empty" / "_SUCCESS")
    for path, kind in (("notes.txt", QueryError), ("empty", NotFound), ("nowhere", NotFound)):
        with pytest.raises(kind):
            sources([str(tmp_path / path)])
