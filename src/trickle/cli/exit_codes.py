"""What the exit code of `trickle` says."""

from __future__ import annotations

from enum import IntEnum

from ..errors import CommitConflict, ConfigError, JavaMissing, SparkLost, StorageError, TrickleError


class ExitCode(IntEnum):
    OK = 0
    FAILED = 1
    USAGE = 2
    ENVIRONMENT = 3
    CONFLICT = 4
    INTERRUPTED = 130


MEANINGS = {
    ExitCode.OK: "done",
    ExitCode.FAILED: "the statement or the lake failed",
    ExitCode.USAGE: "the command line, a setting or an argument is wrong",
    ExitCode.ENVIRONMENT: "the machine is not ready: no Java or Spark, a full or read-only disk",
    ExitCode.CONFLICT: "another writer was first; the same command may succeed when run again",
    ExitCode.INTERRUPTED: "interrupted by Ctrl-C",
}

_BY_ERROR: tuple[tuple[type[TrickleError], ExitCode], ...] = (
    (JavaMissing, ExitCode.ENVIRONMENT),
    (SparkLost, ExitCode.ENVIRONMENT),
    (StorageError, ExitCode.ENVIRONMENT),
    (ConfigError, ExitCode.USAGE),
    (CommitConflict, ExitCode.CONFLICT),
)


def exit_code(error: TrickleError) -> ExitCode:
    """The first kind that the error is of.

    >>> exit_code(JavaMissing("no Java was found")).name, exit_code(ConfigError("unknown setting")).name
    ('ENVIRONMENT', 'USAGE')
    """
    return next((code for kind, code in _BY_ERROR if isinstance(error, kind)), ExitCode.FAILED)
