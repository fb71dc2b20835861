"""The definitions that a folder holds.

A file is a query, and then the stream table is called like the file; or it holds `CREATE STREAM TABLE` statements, with
options. A folder below the first is the schema of the queries in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import AlreadyExists, NotFound, QueryError, StorageError
from ...sql.names import Name

if TYPE_CHECKING:
    from ...sql.statement import Statement


@dataclass(frozen=True)
class Defined:
    """A stream table as a file says it shall be."""

    name: Name
    query: str
    options: Mapping[str, Any]
    """Those that the file names, and the dialect if it names one."""
    file: str

    @property
    def label(self) -> str:
        return self.name.name if self.name.schema in (None, "main") else self.name.label

    @property
    def key(self) -> tuple[str, str]:
        return (self.name.schema or "main").casefold(), self.name.name.casefold()


def read_folder(folder: str) -> list[Defined]:
    """Every definition below the folder, what is read before its readers."""
    root = Path(folder)
    if not root.is_dir():
        raise NotFound(f'there is no folder "{folder}"', hint="name the folder with the .sql files.")
    found = [d for file in sorted(root.rglob("*.sql")) for d in read_definitions(root, file)]
    _refuse_twice(found)
    return in_order(found)


def read_definitions(root: Path, file: Path) -> Iterator[Defined]:
    """The definitions of one file."""
    from ...sql.script import split
    from ...sql.statement import CreateStreamTable, Query

    for text in split(_text(file)):
        match _parsed(file, text):
            case CreateStreamTable() as made:
                yield Defined(made.name, made.query, dict(made.options), str(file))
            case Query():
                yield Defined(_called(root, file), text, {}, str(file))
            case other:
                raise QueryError(
                    f"{file} holds a statement that defines no stream table: {type(other).__name__}",
                    hint="write a query, or CREATE STREAM TABLE … AS query.",
                )


def _parsed(file: Path, text: str) -> Statement:
    from ...sql.parse import parse

    try:
        return parse(text)
    except QueryError as error:
        raise QueryError(f"{file}: {error.message}", detail=error.detail, hint=error.hint) from None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StorageError(f'file "{file}" cannot be read', detail=str(error), hint="check the file.") from error


def _called(root: Path, file: Path) -> Name:
    """
    >>> _called(Path("streams"), Path("streams/sales/revenue.sql")).label
    'sales.revenue'
    """
    folders = file.relative_to(root).parts[:-1]
    return Name(folders[-1] if folders else None, file.stem)


def _refuse_twice(found: Sequence[Defined]) -> None:
    files: dict[tuple[str, str], str] = {}
    for defined in found:
        if defined.key in files:
            raise AlreadyExists(
                f'stream table "{defined.label}" is defined twice',
                detail=f"in {files[defined.key]} and in {defined.file}.",
                hint="keep one of the two; a file with several queries needs CREATE STREAM TABLE for each.",
            )
        files[defined.key] = defined.file


def in_order(found: Sequence[Defined]) -> list[Defined]:
    """Sources before their readers, otherwise as they came."""
    by_key = {d.key: d for d in found}
    done: dict[tuple[str, str], Defined] = {}

    def visit(defined: Defined, path: frozenset[tuple[str, str]]) -> None:
        for key in _read_by(defined):
            if key in by_key and key not in done and key not in path:
                visit(by_key[key], path | {key})
        done.setdefault(defined.key, defined)

    for defined in found:
        visit(defined, frozenset({defined.key}))
    return list(done.values())


def _read_by(defined: Defined) -> list[tuple[str, str]]:
    from ...sql.dialects import to_spark
    from ...sql.references import references

    names = [r.name for r in references(to_spark(defined.query, str(defined.options.get("dialect", "spark"))))]
    return [((n.schema or "main").casefold(), n.name.casefold()) for n in names]
