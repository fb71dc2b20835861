"""Foreign errors, translated once: what databases, disks and Spark say becomes a `TrickleError` with a hint."""

from __future__ import annotations

import errno
import re
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import exc

from ..errors import (
    CommitConflict,
    ConstraintViolated,
    FileMissing,
    LakeError,
    QueryError,
    StorageError,
    TrickleError,
)

MARKER = "trickle_constraint:"
"""Begins the text of errors that Trickle's own expressions raise inside Spark."""


@contextmanager
def translated(about: str) -> Iterator[None]:
    """Foreign errors raised inside become Trickle's, their message opening with `about`."""
    try:
        yield
    except TrickleError:
        raise
    except (exc.SQLAlchemyError, sqlite3.Error) as error:
        raise from_database(about, error) from error
    except _spark_errors() as error:
        raise from_spark(about, error) from error
    except OSError as error:
        raise from_disk(about, error) from error


def _spark_errors() -> tuple[type[Exception], ...]:
    """What Spark raises; nothing where it was never imported, which takes its time."""
    if "pyspark" not in sys.modules:
        return ()
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return PySparkException, Py4JError


def from_database(about: str, error: Exception) -> TrickleError:
    text = str(getattr(error, "orig", None) or error)
    for pattern, build in _DATABASE:
        if re.search(pattern, text, re.IGNORECASE):
            return build(about, text)
    return LakeError(
        f"{about}: the catalog database failed", detail=text, hint="see the detail; retry if it is passing."
    )


def _conflict(about: str, text: str) -> TrickleError:
    return CommitConflict(
        f"{about}: the catalog is busy", detail=text, hint="retry, or raise catalog.lock_timeout_seconds."
    )


def _damaged(about: str, text: str) -> TrickleError:
    return LakeError(
        f"{about}: the catalog is damaged or not a DuckLake catalog",
        detail=text,
        hint="check the path; restore the catalog file from a backup if it is the right one.",
    )


def _read_only(about: str, text: str) -> TrickleError:
    return StorageError(
        f"{about}: the storage cannot be written", detail=text, hint="check permissions and mount options."
    )


def _full(about: str, text: str) -> TrickleError:
    return StorageError(f"{about}: the disk is full", detail=text, hint="free space; nothing was committed.")


def _unreachable(about: str, text: str) -> TrickleError:
    return LakeError(f"{about}: the catalog database cannot be reached", detail=text, hint="check host, port and user.")


_DATABASE = (
    (r"database is locked|lock timeout|deadlock detected|could not serialize", _conflict),
    (r"duplicate key value violates unique constraint|UNIQUE constraint failed", _conflict),
    (r"readonly database|read-only|unable to open database|permission denied", _read_only),
    (r"database or disk is full|no space left|disk I/O error", _full),
    (r"malformed|not a database|no such table|no such column|does not exist|corrupt", _damaged),
    (r"connection refused|could not connect|connection failed|could not translate host", _unreachable),
)


def from_disk(about: str, error: OSError) -> TrickleError:
    text = str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT) or "No space left" in text:
        return _full(about, text)
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return _read_only(about, text)
    if isinstance(error, FileNotFoundError):
        return _missing(about, text)
    return StorageError(f"{about}: the storage failed", detail=text, hint="see the detail; nothing was committed.")


def _missing(about: str, text: str) -> TrickleError:
    return FileMissing(
        f"{about}: a data file that the catalog names is missing",
        detail=text,
        hint="restore the file, or read an older snapshot with VERSION AS OF.",
    )


def from_spark(about: str, error: Exception) -> TrickleError:
    from pyspark.errors import AnalysisException, ArithmeticException, NumberFormatException, ParseException

    text = _brief(error)
    if MARKER in text:
        said = text.split(MARKER, 1)[1].split("SQLSTATE")[0].split("\n")[0].strip(" .'\"")
        return ConstraintViolated(said, hint="correct the rows; nothing was written.")
    if re.search(r"FileNotFoundException|FILE_NOT_EXIST|PATH_NOT_FOUND|does not exist.*recreat", text):
        return _missing(about, text)
    if re.search(r"No space left", text):
        return _full(about, text)
    if re.search(r"Read-only file system|Permission denied|AccessControlException|Mkdirs failed", text):
        return _read_only(about, text)
    if isinstance(error, ParseException):
        return QueryError(f"{about}: syntax error", detail=text, hint="correct the statement where it points.")
    if isinstance(error, AnalysisException):
        return QueryError(f"{about}: the query is not valid", detail=text, hint=_analysis_hint(text))
    if isinstance(error, ArithmeticException | NumberFormatException) or _is_value_error(text):
        return QueryError(f"{about}: a value does not fit", detail=text, hint="correct the value, or use try_cast.")
    return QueryError(f"{about}: spark could not run it", detail=text, hint="see the detail and Spark's log.")


def _analysis_hint(text: str) -> str:
    if "UNRESOLVED_COLUMN" in text:
        return "check the column's name and spelling; DESCRIBE lists the columns."
    if "TABLE_OR_VIEW_NOT_FOUND" in text:
        return "check the table's name; SHOW TABLES lists them."
    if "DATATYPE_MISMATCH" in text:
        return "cast the value to the type that is expected."
    return "correct the statement where it points."


_OWN_NAMES = re.compile(r"(?:, )?(?:`\w+`\.)?`__trickle_\w+`")


def _is_value_error(text: str) -> bool:
    return bool(re.search(r"CAST_INVALID_INPUT|CAST_OVERFLOW|ARITHMETIC_OVERFLOW|NUMERIC_VALUE_OUT_OF_RANGE", text))


def _brief(error: Exception) -> str:
    """Spark's message without plans, Java stacks and Trickle's own names, but with the causes it names."""
    text = re.split(r";\n'|\n(?:'|\+- |:- )", str(error))[0]
    lines = text.split("\n")
    kept = [line for line in lines if not line.lstrip().startswith(("at ", "..."))]
    return _OWN_NAMES.sub("", "\n".join(kept))[:2000]
