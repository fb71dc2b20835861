"""Paths as Spark and the catalog spell them."""

from __future__ import annotations

from pathlib import Path

import pytest

from trickle.lake.storage import Storage, normal, spark_uri


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("/a/b.parquet", "file:/a/b.parquet"),
        ("/a b/ü#%[x].parquet", "file:/a%20b/ü%23%25%5Bx%5D.parquet"),
        ("s3a://bucket/a b", "s3a://bucket/a b"),
    ],
)
def test_a_path_is_spelled_as_spark_spells_it(path: str, uri: str) -> None:
    assert spark_uri(path) == uri


def test_a_path_inside_the_table_is_stored_relative() -> None:
    storage = Storage("/lake/data/")
    assert storage.relative("/lake/data/main/t/x.parquet", "/lake/data/main/t/") == ("x.parquet", True)
    assert storage.relative("/elsewhere/x.parquet", "/lake/data/main/t/") == ("/elsewhere/x.parquet", False)


def test_removing_the_last_file_of_a_write_removes_its_folder(tmp_path: Path) -> None:
    storage = Storage(normal(str(tmp_path)))
    folder = tmp_path / "main" / "t" / "trickle-1"
    folder.mkdir(parents=True)
    (folder / "a.parquet").write_bytes(b"x")
    (folder / ".a.parquet.crc").write_bytes(b"x")
    assert storage.remove(str(folder / "a.parquet"))
    assert not folder.exists() and (tmp_path / "main" / "t").exists()
    assert not storage.remove(str(folder / "a.parquet"))
