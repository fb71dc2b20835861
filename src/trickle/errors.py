"""Every error Trickle raises, in one tree.

    TrickleError
    ├── ConfigError            a setting, an argument or the machine is not as needed
    │   ├── JavaMissing        no Java, or one too old for Spark
    │   └── SparkLost          the Spark of a scheduler no longer answers
    ├── SessionClosed          the connection was closed
    ├── QueryError             a statement is wrong: syntax, names, types, arity
    │   └── NotIncremental     a query has no differential form
    ├── NotFound               no such schema, table, view, column or snapshot
    ├── AlreadyExists          the name is taken
    ├── DependentsExist        others stand on it
    ├── CycleDetected          stream tables would depend on each other in a circle
    ├── SchemaChanged          a source no longer looks as the definition expects
    ├── ConstraintViolated     a row breaks a declared rule (NOT NULL, one MERGE match)
    ├── CommitConflict         somebody else committed first and the work cannot be rebased
    ├── HistoryExpired         the snapshot asked for is gone
    ├── LakeError              the lake is damaged, foreign, or of a newer format
    │   ├── FileMissing        the catalog names a file that is not there
    │   └── UnsupportedType    a column type that Spark cannot read or the lake cannot hold
    ├── StorageError           the disk refused: full, read-only, no permission
    ├── SourceError            a change-capture source failed
    ├── SinkError              a delivery target failed
    └── FuseBlown              a fuse stopped the refresh

Messages are lowercase and factual and name the object; `detail` says why, `hint` what to do; `code` never changes.
"""

from __future__ import annotations

import re
from typing import ClassVar


class TrickleError(Exception):
    """The base of all errors of Trickle.

    >>> error = NotFound('table "orders" does not exist', hint="create it first")
    >>> error.code, error.hint
    ('not_found', 'create it first')
    """

    code: ClassVar[str] = "trickle_error"
    usual_hint: ClassVar[str] = "see the detail, and docs/reference/errors.md."

    def __init__(self, message: str, detail: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail
        self.hint = hint or self.usual_hint

    @property
    def told(self) -> str:
        """In one line: what, and the first sentence of why.

        >>> QueryError("a value does not fit", detail="The value 'two' is no INT. Correct it.").told
        "a value does not fit. The value 'two' is no INT."
        """
        why = re.split(r"(?<=[.!?])\s|\n", self.detail.strip(), maxsplit=1)[0]
        return f"{self.message}. {why[:300]}" if why else self.message

    def __str__(self) -> str:
        lines = [self.message]
        if self.detail:
            lines.append(f"detail: {self.detail}")
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)


class ConfigError(TrickleError):
    code = "config_error"


class JavaMissing(ConfigError):
    code = "java_missing"


class SparkLost(ConfigError):
    code = "spark_lost"


class SessionClosed(TrickleError):
    code = "session_closed"


class QueryError(TrickleError):
    code = "query_error"
    usual_hint = "correct the statement; docs/reference/sql.md shows the forms there are."


class NotIncremental(QueryError):
    code = "not_incremental"


class NotFound(TrickleError):
    code = "not_found"


class AlreadyExists(TrickleError):
    code = "already_exists"


class DependentsExist(TrickleError):
    code = "dependents_exist"


class CycleDetected(TrickleError):
    code = "cycle_detected"


class SchemaChanged(TrickleError):
    code = "schema_changed"


class ConstraintViolated(TrickleError):
    code = "constraint_violated"


class CommitConflict(TrickleError):
    code = "commit_conflict"


class HistoryExpired(TrickleError):
    code = "history_expired"


class LakeError(TrickleError):
    code = "lake_error"


class FileMissing(LakeError):
    code = "file_missing"


class UnsupportedType(LakeError):
    code = "unsupported_type"


class StorageError(TrickleError):
    code = "storage_error"


class SourceError(TrickleError):
    code = "source_error"


class SinkError(TrickleError):
    code = "sink_error"


class FuseBlown(TrickleError):
    code = "fuse_blown"


class TrickleWarning(UserWarning):
    """Not wrong, but worth knowing: a diamond, groups that are rescanned, rows without a key."""
