"""Trickle keeps tables fresh: declare a query, and only what changed is computed.

>>> import trickle
>>> trickle.TrickleError.code
'trickle_error'
"""

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
    StorageError,
    TrickleError,
    UnsupportedType,
)
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
    "StorageError",
    "TrickleError",
    "UnsupportedType",
    "connect",
]
