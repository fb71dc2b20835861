"""Deleted positions as one bit a row: sixty-four rows a word, the words of several files one after another.

A lookup costs a row next to nothing, where a join hashes every row: what is deleted may be 1 % and is read always.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import pyarrow as pa
from pyspark.sql import Column as SparkColumn
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from ..spark import local_frame

MOST_WORDS = 1 << 20
"""Words that travel with every task: 8 MiB, sixty-seven million rows."""


def words_of(rows: int) -> int:
    """Words that a file of so many rows takes.

    >>> [words_of(n) for n in (0, 1, 64, 65)]
    [0, 1, 1, 2]
    """
    return -(-rows // 64)


def starts(rows: Sequence[int]) -> list[int]:
    """The first word of each file.

    >>> starts([100, 1, 64])
    [0, 2, 3]
    """
    return [0, *accumulate(words_of(n) for n in rows)][: len(rows)]


def pack(positions: np.ndarray, rows: int) -> np.ndarray:
    """The words of one file; positions are sorted and each stands once.

    >>> pack(np.array([0, 2, 64]), 65).tolist()
    [5, 1]
    """
    words = np.zeros(words_of(rows), np.uint64)
    if len(positions):
        places, first = np.unique(positions >> 6, return_index=True)
        bits = np.uint64(1) << (positions & 63).astype(np.uint64)
        words[places] = np.bitwise_or.reduceat(bits, first)
    return words.view(np.int64)


def bit(spark: SparkSession, words: np.ndarray, start: str, position: str) -> SparkColumn:
    """The bit of a row: 1 if its position, in the file whose words begin at `start`, is among those packed."""
    held = pa.ListArray.from_arrays(pa.array([0, len(words)], pa.int32()), pa.array(words))
    # A subquery's array stays an array of longs; a literal's would be boxed, and be part of every plan's text.
    all_words = local_frame(spark, pa.table({"words": held})).scalar()
    word = F.get(all_words, F.expr(f"{start} + CAST(shiftright({position}, 6) AS INT)"))
    return F.getbit(word, F.expr(f"CAST({position} & 63 AS INT)"))
