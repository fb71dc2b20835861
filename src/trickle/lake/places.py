"""Where a row stands: its file, told by a constant that Spark knows of every row, and its position there.

Expressions are given to Spark as text: built piece by piece they would cost one call for every piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ..handing import local_frame
from ..plan.names import FILE, POSITION
from .pieces import Piece
from .storage import spark_uri

ROW_INDEX = "_metadata.row_index"
MOST_BY_SIZE = 64
"""Files of one read that are told apart by their size."""

_URI = "__trickle_uri"
_WRONG_SIZE = "a data file does not have the size that the catalog records; it was replaced or damaged"


def apart(pieces: list[Piece]) -> list[list[Piece]]:
    """Few files are told apart by their size, a cheap constant per row: no two of a size in one read."""
    if len(pieces) > MOST_BY_SIZE:
        return [pieces]
    rounds: list[dict[int, Piece]] = []
    for piece in pieces:
        free = next((r for r in rounds if piece.file.bytes not in r), None)
        if free is None:
            rounds.append(free := {})
        free[piece.file.bytes] = piece
    return [list(r.values()) for r in rounds]


def by_size(pieces: Iterable[Piece], values: Iterable[int], type: str) -> str:
    """An expression with one value a file."""
    cases = " ".join(f"WHEN {p.file.bytes} THEN {v}" for p, v in zip(pieces, values, strict=True))
    return f"CAST(CASE _metadata.file_size {cases} ELSE raise_error('{_WRONG_SIZE}') END AS {type})"


def placed(frame: DataFrame, pieces: Sequence[Piece], ordinals: Sequence[int]) -> DataFrame:
    """The frame with FILE and POSITION."""
    position = F.expr(ROW_INDEX).alias(POSITION)
    if len(pieces) <= MOST_BY_SIZE:
        return frame.select("*", position, F.expr(by_size(pieces, ordinals, "BIGINT")).alias(FILE))
    uris = pa.table({_URI: [spark_uri(p.file.path) for p in pieces], FILE: pa.array(ordinals, pa.int64())})
    tagged = frame.select("*", position, F.expr("_metadata.file_path").alias(_URI))
    known = F.broadcast(local_frame(frame.sparkSession, uris))
    return tagged.join(known, _URI, "left").withColumn(FILE, _not_null(FILE))


def _not_null(name: str) -> SparkColumn:
    return F.coalesce(F.col(name), F.raise_error(F.lit("a file was read that the catalog does not name")))
