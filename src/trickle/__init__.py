"""Trickle keeps tables fresh: declare a query, and only what changed is computed.

>>> import trickle
>>> trickle.TrickleError.code
'trickle_error'
"""

from typing import TYPE_CHECKING, Any

from .errors import (
    AlreadyExists,
    CommitConflict,
    ConfigError,
    ConstraintViolated,
    CycleDetected,
    DependentsExist,
    FileMissing,
    FuseBlown,
    HistoryExpired,
    JavaMissing,
    LakeError,
    NotFound,
    NotIncremental,
    QueryError,
    SchemaChanged,
    SessionClosed,
    SinkError,
    SourceError,
    SparkLost,
    StorageError,
    TrickleError,
    TrickleWarning,
    UnsupportedType,
)

if TYPE_CHECKING:
    from .session import Session, connect

__all__ = [
    "AlreadyExists",
    "CommitConflict",
    "ConfigError",
    "ConstraintViolated",
    "CycleDetected",
    "DependentsExist",
    "FileMissing",
    "FuseBlown",
    "HistoryExpired",
    "JavaMissing",
    "LakeError",
    "NotFound",
    "NotIncremental",
    "QueryError",
    "SchemaChanged",
    "Session",
    "SessionClosed",
    "SinkError",
    "SourceError",
    "SparkLost",
    "StorageError",
    "TrickleError",
    "TrickleWarning",
    "UnsupportedType",
    "connect",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """The session is imported when it is first named: `trickle --help` need not wait for Spark's modules."""
        if name not in ("Session", "connect"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from .progress import progress

        with progress("loading Spark's modules …"):
            from . import session

        return getattr(session, name)
