"""Deleted positions as one bit a row: sixty-four rows a word, the words of several files one after another.

A lookup costs a row next to nothing, where a join hashes every row: what is deleted may be 1 % and is read always.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import pyarrow as pa
from pyspark.sql import Column as SparkColumn
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from ..handing import local_frame
from . import positions
from .pieces import Piece
from .storage import Storage

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


def pack(dead: np.ndarray, rows: int) -> np.ndarray:
    """The words of one file; dead positions are sorted and each stands once.

    >>> pack(np.array([0, 2, 64]), 65).tolist()
    [5, 1]
    """
    words = np.zeros(words_of(rows), np.uint64)
    if len(dead):
        places, first = np.unique(dead >> 6, return_index=True)
        bits = np.uint64(1) << (dead & 63).astype(np.uint64)
        words[places] = np.bitwise_or.reduceat(bits, first)
    return words.view(np.int64)


def bit(words: SparkColumn, start: str, position: str) -> SparkColumn:
    """The bit of a row: 1 if its position, in the file whose words begin at `start`, is among those packed."""
    word = F.get(words, F.expr(f"{start} + CAST(shiftright({position}, 6) AS INT)"))
    return F.getbit(word, F.expr(f"CAST({position} & 63 AS INT)"))


class Bitmaps:
    """The words of the deletes that were read last: a table that is read often has the same ones each time."""

    def __init__(self, most: int = 8) -> None:
        self._kept: OrderedDict[tuple[object, ...], SparkColumn] = OrderedDict()
        self._most = most

    def words(self, spark: SparkSession, storage: Storage, pieces: list[Piece]) -> SparkColumn:
        """One array column: the words of the pieces, one after another."""
        if any(len(p.staged) for p in pieces):
            return _held(spark, _packed(storage, pieces))
        key = tuple((p.file.id, p.file.records, p.deletes, p.inlined, p.dead) for p in pieces)
        words = self._kept.pop(key, None)
        if words is None:
            words = _held(spark, _packed(storage, pieces))
        self._kept[key] = words
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return words


def _packed(storage: Storage, pieces: list[Piece]) -> np.ndarray:
    found = positions.read_many(storage, pieces)
    return np.concatenate([pack(dead, piece.file.records) for dead, piece in zip(found, pieces, strict=True)])


def _held(spark: SparkSession, words: np.ndarray) -> SparkColumn:
    # A subquery's array stays an array of longs; a literal's would be boxed, and be part of every plan's text.
    array = pa.ListArray.from_arrays(pa.array([0, len(words)], pa.int32()), pa.array(words))
    return local_frame(spark, pa.table({"words": array})).scalar()
