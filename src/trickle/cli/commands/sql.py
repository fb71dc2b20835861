"""`trickle sql` and `trickle changes`: statements run, rows shown."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ...errors import QueryError, StorageError
from ..answers import show
from ..options import Format, Json, Options, Table, options

Text = Annotated[str | None, typer.Argument(help="One statement, or several with semicolons between.")]
File = Annotated[str | None, typer.Option("--file", "-f", help="Read the statements from a file; - is stdin.")]
Most = Annotated[int, typer.Option("--rows", min=0, help="Show at most so many rows as a table; 0: all.")]
From = Annotated[int, typer.Option("--from", help="The snapshot after which the range begins.")]
To = Annotated[int | None, typer.Option("--to", help="The snapshot with which it ends; the newest if not given.")]


def sql(
    ctx: typer.Context,
    statement: Text = None,
    file: File = None,
    format: Format = None,
    rows: Most = 1000,
    json: Json = False,
) -> None:
    """Run statements: from the argument, a file or stdin; without any of them, at a terminal, in a shell."""
    from ...sql.script import split

    given = options(ctx, json, format)
    if statement is None and file is None and sys.stdin.isatty():
        _converse(given, rows)
        return
    statements = split(read_text(statement, file))
    with given.open() as db:
        is_open = False
        for one in statements:
            is_open = _is_open_after(one, is_open)
            with given.progress("running …"):
                result = db.sql(one)
            show(given, result, rows)
        if is_open:
            raise QueryError(
                "the statements end inside a transaction", detail="its changes were rolled back.", hint="add COMMIT."
            )


def _converse(given: Options, rows: int) -> None:
    from ..shell.shell import Shell

    with given.open() as db:
        Shell(given, db, rows).run()


def changes(
    ctx: typer.Context,
    name: Table,
    start: From,
    end: To = None,
    format: Format = None,
    rows: Most = 1000,
    json: Json = False,
) -> None:
    """Show the net change of a table between two snapshots: its columns and `__w`, copies that came or went."""
    given = options(ctx, json, format)
    with given.open() as db:
        show(given, db.changes(name, start, end), rows)


def read_text(statement: str | None, file: str | None) -> str:
    """What was typed, what a file holds, or what stdin says."""
    if statement is not None and file is not None:
        raise typer.BadParameter("give a statement or a file, not both", param_hint="--file")
    if statement is not None:
        return statement
    if file not in (None, "-"):
        return _read(Path(str(file)))
    if file is None and sys.stdin.isatty():
        raise typer.BadParameter("give a statement, a file with -f, or statements on stdin")
    return sys.stdin.read()


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StorageError(f'file "{path}" cannot be read', detail=str(error), hint="check the path.") from error


def _is_open_after(statement: str, was_open: bool) -> bool:
    from ...sql.parse import parse
    from ...sql.statement import Begin, Commit, Rollback

    parsed = parse(statement)
    return isinstance(parsed, Begin) or (was_open and not isinstance(parsed, Commit | Rollback))
