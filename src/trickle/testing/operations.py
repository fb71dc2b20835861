"""What the two writers do to a lake, as values: every operation says the same to Trickle and to DuckDB."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from trickle.testing.shapes import Phrase, Shape


class Writer(Enum):
    TRICKLE = "trickle"
    DUCKDB = "duckdb"


class Upkeep(Enum):
    """Maintenance, which changes no state. Values are DuckDB's calls; Trickle has methods of these names."""

    MERGE_FILES = "CALL ducklake_merge_adjacent_files('lake')"
    REWRITE_DELETES = "CALL ducklake_rewrite_data_files('lake', delete_threshold => 0.01)"
    CLEAN_FILES = "CALL ducklake_cleanup_old_files('lake', cleanup_all => true)"
    CLUSTER = ""
    COLLECT_ORPHANS = "CALL ducklake_delete_orphaned_files('lake', cleanup_all => true)"
    FLUSH = "CALL ducklake_flush_inlined_data('lake')"
    INLINE_NONE = "CALL ducklake_set_option('lake', 'data_inlining_row_limit', 0)"
    INLINE_SOME = "CALL ducklake_set_option('lake', 'data_inlining_row_limit', 4)"
    INLINE_MANY = "CALL ducklake_set_option('lake', 'data_inlining_row_limit', 100)"


TRICKLE_UPKEEP = (
    Upkeep.MERGE_FILES,
    Upkeep.REWRITE_DELETES,
    Upkeep.CLEAN_FILES,
    Upkeep.CLUSTER,
    Upkeep.COLLECT_ORPHANS,
)
DUCKDB_UPKEEP = (Upkeep.MERGE_FILES, Upkeep.REWRITE_DELETES, Upkeep.CLEAN_FILES)
INLINING_UPKEEP = (Upkeep.FLUSH, Upkeep.FLUSH, Upkeep.FLUSH, Upkeep.INLINE_SOME, Upkeep.INLINE_MANY)
"""Inlining is on from the first table: turned on after an ALTER, DuckDB 1.5.5 misreads what it inlines."""


@dataclass(frozen=True)
class Append:
    """Rows handed over as data instead of SQL, in the form of `carrier`: arrow, dicts or spark."""

    shape: Shape
    rows: tuple[tuple[Any, ...], ...]
    carrier: str


@dataclass(frozen=True)
class Step:
    """One statement; with `append`, Trickle gets the rows as data instead."""

    text: Phrase
    table: str
    append: Append | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Change:
    """One or more statements of one writer; several are one transaction, which may be rolled back."""

    writer: Writer
    steps: tuple[Step, ...]
    atomic: bool = False
    rolled_back: bool = False

    @property
    def weight(self) -> int:
        """How many operations it counts for."""
        return len(self.steps)

    def __str__(self) -> str:
        texts = [step.text.spark if self.writer is Writer.TRICKLE else step.text.duckdb for step in self.steps]
        if self.atomic:
            texts = ["BEGIN", *texts, "ROLLBACK" if self.rolled_back else "COMMIT"]
        return f"[{self.writer.value}] " + "; ".join(texts)


@dataclass(frozen=True)
class Maintain:
    writer: Writer
    upkeep: Upkeep
    table: str | None = None
    weight: int = 1

    def __str__(self) -> str:
        return f"[{self.writer.value}] {self.upkeep.name}({self.table or ''})"


Operation = Change | Maintain
