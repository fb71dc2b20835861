"""What may stand where the cursor is: names of the lake and words of SQL."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

KEYWORDS = """
ALTER AND AS BEGIN BETWEEN BY CALL CASE COMMIT CREATE CROSS DELETE DESC DESCRIBE DISTINCT DROP ELSE END EXISTS EXPLAIN
FROM FULL GROUP HAVING IN INNER INSERT INTO IS JOIN LEFT LIKE LIMIT MERGE NOT NULL ON OR ORDER OVER PARTITION REFRESH
REPLACE RIGHT ROLLBACK SELECT SET SHOW STREAM TABLE TABLES THEN TRUNCATE UNION UPDATE USING VALUES VERSION VIEW WHEN
WHERE WITH
"""

AFTER_TABLE = re.compile(r"\b(FROM|JOIN|INTO|UPDATE|TABLE|DESCRIBE)\s+\S*$", re.IGNORECASE)
WORD = re.compile(r"[\w.]+$")

Names = Mapping[str, tuple[str, ...]]
"""Tables, views and stream tables with their columns."""


@dataclass
class Words(Completer):
    """Completes from what the lake holds now; after FROM and its like, tables alone."""

    names: Callable[[], Names]

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        before = document.text_before_cursor
        word = found[0] if (found := WORD.search(before)) else ""
        for text, kind in candidates(self.names(), before, word):
            yield Completion(text, start_position=-len(word), display_meta=kind)


def candidates(names: Names, before: str, word: str) -> Iterator[tuple[str, str]]:
    """Each with its kind.

    >>> shop = {"orders": ("id", "amount")}
    >>> list(candidates(shop, "SELECT * FROM o", "o")), list(candidates(shop, "SELECT am", "am"))
    ([('orders', 'table')], [('amount', 'column')])
    """
    yield from _beginning(word, names, "table")
    if AFTER_TABLE.search(before):
        return
    yield from _beginning(word, sorted({c for columns in names.values() for c in columns}), "column")
    yield from _beginning(word, KEYWORDS.split(), "") if word else ()


def _beginning(word: str, texts: Iterable[str], kind: str) -> Iterator[tuple[str, str]]:
    return ((t, kind) for t in texts if t.lower().startswith(word.lower()) and t != word)
