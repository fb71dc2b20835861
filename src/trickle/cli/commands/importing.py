"""`trickle import`: files become tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import AlreadyExists, NotFound, QueryError
from ...records import Record
from ..answers import show_facts
from ..options import Json, options

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ...session import Session

FORMATS = {".parquet": "parquet", ".csv": "csv", ".tsv": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json"}

Paths = Annotated[list[str], typer.Argument(help="Parquet, CSV or JSON files, or folders of them.")]
TableName = Annotated[str | None, typer.Option("--table", "-t", help="The table; without it, called like the file.")]
Append = Annotated[bool, typer.Option("--append", help="Add the rows to a table that is there.")]
Replace = Annotated[bool, typer.Option("--replace", help="Put the rows in place of those of a table that is there.")]
Delimiter = Annotated[str | None, typer.Option("--delimiter", help="Between the fields of CSV; without it , or tab.")]
Lenient = Annotated[
    bool, typer.Option("--lenient", help="Take CSV and JSON lines that do not fit, with NULL for what is missing.")
]
NoHeader = Annotated[bool, typer.Option("--no-header", help="The first line of CSV is a row, not the names.")]


@dataclass(frozen=True)
class Source:
    """Files of one format that make up one table."""

    table: str
    format: str
    files: tuple[Path, ...]


@dataclass(frozen=True)
class Imported(Record):
    table: str
    rows: int
    files: int
    format: str
    created: bool
    snapshot: int | None


def import_files(
    ctx: typer.Context,
    paths: Paths,
    table: TableName = None,
    append: Append = False,
    replace: Replace = False,
    delimiter: Delimiter = None,
    no_header: NoHeader = False,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Make tables of files: each file is a table, a folder of files is one, a folder of folders is one for each.

    The lake is created if it is not there. Names and types come from the files; each table is one commit.
    """
    if append and replace:
        raise typer.BadParameter("rows are added or put in place of others, not both", param_hint="--append")
    given = options(ctx, json)
    found = sources(paths, table)
    done = []
    with given.open(create=True) as db:
        for source in found:
            with given.progress(f"importing {source.table} …"), _judged(source):
                rows = read(db, source, delimiter, not no_header, lenient)
                done.append(store(db, source, rows, append, replace))
    show_facts(given, done, Imported)


def sources(paths: Sequence[str], table: str | None = None) -> list[Source]:
    """What shall be read, by table."""
    found: dict[tuple[str, str], list[Path]] = {}
    for path in map(Path, paths):
        for name, file in _files(path):
            found.setdefault((table or called(name), FORMATS[_suffix(file)]), []).append(file)
    tables = [name for name, _ in found]
    twice = next((name for name in tables if tables.count(name) > 1), None)
    if twice is not None:
        raise QueryError(f'files of several formats make up table "{twice}"', hint="import one format at a time.")
    return [Source(name, format, tuple(files)) for (name, format), files in found.items()]


def _files(path: Path) -> Iterator[tuple[str, Path]]:
    """(what the table is called after, file)"""
    if path.is_file():
        if _suffix(path) not in FORMATS:
            raise QueryError(f'"{path}" is no file that can be imported', hint=f"its name must end with {_ENDINGS}.")
        yield _stem(path), path
        return
    if not path.is_dir():
        raise NotFound(f'there is no file or folder "{path}"', hint="check the path.")
    files = sorted(f for f in path.iterdir() if f.is_file() and _suffix(f) in FORMATS and not f.name.startswith("_"))
    yield from ((_stem(path.absolute()), f) for f in files)
    below = (
        [found for folder in sorted(path.iterdir()) if folder.is_dir() for found in _files(folder)] if not files else []
    )
    if not (files or below):
        raise NotFound(f'folder "{path}" holds nothing to import', hint=f"files must end with {_ENDINGS}.")
    yield from below


_ENDINGS = ", ".join(FORMATS)


def _suffix(file: Path) -> str:
    """
    >>> _suffix(Path("orders.csv.gz")), _suffix(Path("ORDERS.Parquet"))
    ('.csv', '.parquet')
    """
    endings = [s.lower() for s in file.suffixes if s.lower() not in (".gz", ".bz2", ".zst", ".snappy")]
    return endings[-1] if endings else ""


def called(name: str) -> str:
    """A name that needs no quotes.

    >>> called("Orders 2024-02"), called("2024")
    ('orders_2024_02', 't_2024')
    """
    plain = re.sub(r"\W+", "_", name).strip("_").lower() or "imported"
    return f"t_{plain}" if plain[0].isdigit() else plain


def read(
    db: Session, source: Source, delimiter: str | None = None, header: bool = True, lenient: bool = False
) -> DataFrame:
    """The rows of the files, under the names and types that they say or show."""
    found = _read(db, source, delimiter, header, "PERMISSIVE" if lenient else "FAILFAST")
    if not found.columns:
        raise QueryError(f'"{source.files[0]}" has no columns', hint="is it empty?")
    return found


@contextmanager
def _judged(source: Source) -> Iterator[None]:
    """Spark's word on a file that is not what it should be, in ours."""
    try:
        yield
    except QueryError as error:
        name, why = f'"{source.files[0]}"', error.detail.split("\n")[0]
        if re.search("malformed.record", error.detail, re.IGNORECASE):
            hint = "correct the lines, or say --lenient to take them with NULL for what is missing."
            raise QueryError(f"{name} has lines that do not fit", detail=why, hint=hint) from error
        if "FAILED_READ_FILE" in error.detail:
            hint = f"check that it holds {source.format}, whole."
            raise QueryError(f"{name} cannot be read as {source.format}", detail=why, hint=hint) from error
        raise


def _read(db: Session, source: Source, delimiter: str | None, header: bool, mode: str) -> DataFrame:
    from ...lake.foreign import translated

    reader = db.spark.read.option("mode", mode)
    names = [str(f.absolute()) for f in source.files]
    with translated(f'import of "{source.table}"'):
        if source.format == "csv":
            between = delimiter or ("\t" if _suffix(source.files[0]) == ".tsv" else ",")
            return reader.csv(names, sep=between, header=header, inferSchema=True, multiLine=True, escape='"')
        if source.format == "json":
            return reader.json(names, multiLine=_is_document(source.files[0]))
        return reader.parquet(*names)


def _stem(path: Path) -> str:
    """
    >>> _stem(Path("orders.csv.gz")), _stem(Path("exports/orders.parquet")), _stem(Path("v1.5"))
    ('orders', 'orders', 'v1.5')
    """
    return path.name.split(".")[0] if _suffix(path) in FORMATS else path.name


def _is_document(file: Path) -> bool:
    """One array or object over many lines, not an object a line."""
    with file.open("rb") as opened:
        first = opened.readline().strip()
    return first.startswith(b"[") or first == b"{"


def store(db: Session, source: Source, rows: DataFrame, append: bool = False, replace: bool = False) -> Imported:
    """The rows in the table, which is created if need be: one commit."""
    from ...sql.parse import table_name

    target = table_name(source.table)
    schema, name = target.schema or "main", target.name
    is_there = any(
        (t.schema.casefold(), t.name.casefold()) == (schema.casefold(), name.casefold()) for t in db.tables()
    )
    if is_there and not (append or replace):
        raise AlreadyExists(f'table "{source.table}" exists already', hint="say --append, --replace or --table NAME.")
    with db.transaction():
        if not is_there:
            db.sql(f"CREATE TABLE {target.quote_spark()} ({', '.join(_columns(rows))})")
        elif replace:
            db.sql(f"TRUNCATE TABLE {target.quote_spark()}")
        added = db.append(source.table, _typed(rows)).rows
    return Imported(source.table, added, len(source.files), source.format, not is_there, db.head())


def _columns(rows: DataFrame) -> Iterator[str]:
    from ...sql.names import quote_spark

    for field in rows.schema.fields:
        yield f"{quote_spark(field.name)} {_type(field.dataType)}"


def _type(kind: Any) -> str:
    """What is only ever NULL is taken for text."""
    return "STRING" if kind.typeName() == "void" else str(kind.simpleString())


def _typed(rows: DataFrame) -> DataFrame:
    """The rows, where a column is only ever NULL as text."""
    from ...sql.names import quote_spark

    columns = [f"CAST({q} AS {_type(f.dataType)}) AS {q}" for f in rows.schema.fields if (q := quote_spark(f.name))]
    return rows.selectExpr(*columns) if any(f.dataType.typeName() == "void" for f in rows.schema.fields) else rows
