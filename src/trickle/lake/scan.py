"""Pieces of files as a Spark DataFrame: the only reader of lake data."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np
import pyarrow as pa
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructField, StructType

from ..handing import local_frame
from ..plan.names import FILE, POSITION
from . import bitmap, positions
from .inlined import InlinedRows
from .model import (
    DELETE_POS_FIELD,
    ROW_ID,
    ROW_ID_FIELD,
    SNAPSHOT_ID,
    SNAPSHOT_ID_FIELD,
    WEIGHT,
    Bound,
    Column,
    DataFile,
    Table,
)
from .pieces import Piece
from .places import MOST_BY_SIZE, ROW_INDEX, apart, by_size, placed
from .storage import Storage, spark_uri
from .text import FLOATS, parse
from .types import struct_type, to_spark

STORED_ROW_ID = "__trickle_row_id"
"""The row id embedded in the file, NULL where it follows from the position."""

BORN = "__trickle_born"
"""The snapshot a row was born at."""

_KEY = "__trickle_key"
_SHIFT = 40


@dataclass(frozen=True)
class ScanRequest:
    """What to read of one table."""

    table: Table
    pieces: Sequence[Piece] = ()
    inlined: Sequence[InlinedRows] = ()
    lacking: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """Data file id → ids of columns with a default that the file was written without."""
    retyped: Mapping[int, tuple[tuple[int, str], ...]] = field(default_factory=dict)
    """Data file id → (column id, type it was written with) where Spark does not read one as the other."""
    names: Mapping[int, Mapping[int, str]] = field(default_factory=dict)
    """Mapping id → field id → name in the file, for files without field ids."""
    bounds: Sequence[Bound] = ()
    """Rows outside these are not wanted, and may be left out."""
    addressed: bool = False
    """Also give FILE, POSITION and STORED_ROW_ID."""
    with_birth: bool = False
    """Also give BORN."""
    weighted: bool = False
    """Also give the weight."""
    small_rows: int = 1_000_000
    small_files: int = 256


def scan(spark: SparkSession, storage: Storage, request: ScanRequest, bitmaps: bitmap.Bitmaps) -> DataFrame:
    """The rows of the request, columns in the table's order."""
    return _Scan(spark, storage, request, bitmaps).frame()


class _Scan:
    def __init__(self, spark: SparkSession, storage: Storage, request: ScanRequest, bitmaps: bitmap.Bitmaps) -> None:
        self.spark, self.storage, self.request, self.bitmaps = spark, storage, request, bitmaps
        self.table = request.table
        self.ordinals = {p.file.id: n for n, p in enumerate(request.pieces)}
        self.schema = struct_type(self.table.columns, with_ids=True, table=self.table.label)

    def frame(self) -> DataFrame:
        frames = [self.group(pieces) for pieces in self.groups()]
        frames += [self.inlined(n, rows) for n, rows in enumerate(self.request.inlined)]
        if not frames:
            nothing = [F.lit(None).cast(f.dataType).alias(f.name) for f in output_schema(self.request)]
            return self.spark.range(0).select(*nothing)
        return reduce(DataFrame.unionAll, frames)

    def groups(self) -> Iterable[list[Piece]]:
        """Pieces that one read can serve: same columns present, same treatment, no two files of one size."""
        found: dict[tuple[object, ...], list[Piece]] = defaultdict(list)
        for piece in self.request.pieces:
            found[self.kind(piece)].append(piece)
        for pieces in found.values():
            yield from apart(pieces) if self.tells_files_apart(pieces[0]) else [pieces]

    def kind(self, piece: Piece) -> tuple[object, ...]:
        mapping = piece.file.mapping_id if self.by_name(piece.file) else None
        lacking = self.request.lacking.get(piece.file.id, frozenset())
        retyped = self.request.retyped.get(piece.file.id, ())
        begin = None if piece.life is None else piece.file.begin
        return (mapping, lacking, retyped, piece.life, begin, piece.has_deletes, piece.only_deleted, piece.weight)

    def by_name(self, file: DataFile) -> bool:
        # Files that Trickle wrote carry field ids even when a mapping serves DuckDB.
        return file.mapping_id is not None and "/trickle-" not in file.path

    def tells_files_apart(self, piece: Piece) -> bool:
        return piece.has_deletes or self.request.addressed

    def group(self, pieces: list[Piece]) -> DataFrame:
        first = pieces[0]
        frame = self.read(pieces)
        by_bit = first.has_deletes and self.fits_bitmap(pieces)
        if by_bit:
            frame = frame.where(self.dead_bit(pieces) == int(first.only_deleted))
        by_join = first.has_deletes and not by_bit
        if self.request.addressed or by_join:
            frame = placed(frame, pieces, [self.ordinals[p.file.id] for p in pieces])
        if by_join:
            frame = self.without_deletes(frame, pieces)
        if first.life is not None:
            frame = frame.where(_born(first))
        lacking = self.request.lacking.get(first.file.id, frozenset())
        names = self.request.names.get(first.file.mapping_id or -1, {}) if self.by_name(first.file) else {}
        old = dict(self.request.retyped.get(first.file.id, ()))
        extras = self.extras(first)
        if not (lacking or names or old or extras or by_join or self.internal(first)):
            return frame  # as it was read; every step more costs Spark an analysis
        outputs = [self.value(c, lacking, names, c.id in old) for c in self.table.columns]
        return frame.select(*outputs, *extras)

    def read(self, pieces: list[Piece]) -> DataFrame:
        first = pieces[0]
        if self.by_name(first.file):
            schema = _named_schema(self.table, self.request.names[first.file.mapping_id or -1])
        else:
            schema = StructType([*self.fields(first), *self.internal(first)])
        read = self.spark.read.schema(schema)
        if any(part.type in FLOATS for column in self.table.columns for part in column.walk()):
            # To Parquet's dictionaries and Bloom filters -0.0 is another value than 0: rows would be left out.
            for sieve in ("dictionary", "bloom"):
                read = read.option(f"parquet.filter.{sieve}.enabled", "false")
        return read.parquet(*(p.file.path for p in pieces))

    def fields(self, piece: Piece) -> list[StructField]:
        """The table's columns, with the types that the file was written with where those must be read."""
        old = dict(self.request.retyped.get(piece.file.id, ()))
        columns = [replace(c, type=old.get(c.id, c.type)) for c in self.table.columns]
        return list(struct_type(columns, with_ids=True, table=self.table.label).fields) if old else self.schema.fields

    def internal(self, piece: Piece) -> list[StructField]:
        """DuckLake's own columns, where they are needed; a file without them gives NULL."""
        wanted = []
        if self.request.addressed:
            wanted.append(_internal(ROW_ID, ROW_ID_FIELD))
        if piece.life is not None or self.request.with_birth:
            wanted.append(_internal(SNAPSHOT_ID, SNAPSHOT_ID_FIELD))
        return wanted

    def value(
        self, column: Column, lacking: frozenset[int], names: Mapping[int, str], retyped: bool = False
    ) -> SparkColumn:
        type = to_spark(column, self.table.label)
        if column.id in lacking:
            default = parse(column.initial_default, column)
            return F.lit(default).cast(type).alias(column.name)
        if names:
            return (
                F.col(_quoted(names[column.id])).cast(type).alias(column.name) if column.id in names else _null(column)
            )
        return F.col(_quoted(column.name)).cast(type).alias(column.name) if retyped else F.col(_quoted(column.name))

    def extras(self, piece: Piece) -> list[SparkColumn]:
        found = []
        if self.request.addressed:
            stored = F.lit(None).cast("bigint") if self.by_name(piece.file) else F.col(ROW_ID)
            found += [F.col(FILE), F.col(POSITION), stored.alias(STORED_ROW_ID)]
        if self.request.with_birth:
            found.append(self.birth(piece).alias(BORN))
        if self.request.weighted:
            found.append(F.lit(piece.weight).cast("bigint").alias(WEIGHT))
        return found

    def birth(self, piece: Piece) -> SparkColumn:
        begins = F.array(*(F.lit(p.file.begin).cast("bigint") for p in self.request.pieces))
        begin = F.element_at(begins, (F.col(FILE) + 1).cast("int"))
        return begin if self.by_name(piece.file) else F.coalesce(F.col(SNAPSHOT_ID), begin)

    def fits_bitmap(self, pieces: list[Piece]) -> bool:
        words = sum(bitmap.words_of(p.file.records) for p in pieces)
        return self.is_small(pieces) and len(pieces) <= MOST_BY_SIZE and words <= bitmap.MOST_WORDS

    def is_small(self, pieces: list[Piece]) -> bool:
        """Whether the driver reads the deletes."""
        stored = [d for p in pieces for d in p.deletes]
        return len(stored) <= self.request.small_files and sum(d.count for d in stored) <= self.request.small_rows

    def dead_bit(self, pieces: list[Piece]) -> SparkColumn:
        """1 where the row is deleted, else 0."""
        starts = bitmap.starts([p.file.records for p in pieces])
        words = self.bitmaps.words(self.spark, self.storage, pieces)
        return bitmap.bit(words, by_size(pieces, starts, "INT"), ROW_INDEX)

    def without_deletes(self, frame: DataFrame, pieces: list[Piece]) -> DataFrame:
        """Leave out, or keep only, the deleted positions, by a join."""
        keyed = frame.withColumn(_KEY, F.col(FILE) * F.lit(1 << _SHIFT) + F.col(POSITION))
        how = "left_semi" if pieces[0].only_deleted else "left_anti"
        return keyed.join(self.dead_keys(pieces), _KEY, how)

    def dead_keys(self, pieces: list[Piece]) -> DataFrame:
        if not self.is_small(pieces):
            return self.dead_keys_by_spark(pieces)
        found = positions.read_many(self.storage, pieces)
        return F.broadcast(self.keys(pieces, found))

    def keys(self, pieces: list[Piece], found: list[np.ndarray]) -> DataFrame:
        parts = [(self.ordinals[p.file.id] << _SHIFT) + dead for p, dead in zip(pieces, found, strict=True)]
        return local_frame(self.spark, pa.table({_KEY: pa.array(np.concatenate(parts), pa.int64())}))

    def dead_keys_by_spark(self, pieces: list[Piece]) -> DataFrame:
        """The same keys, the delete files read by Spark."""
        schema = StructType([_internal("pos", DELETE_POS_FIELD), _internal(SNAPSHOT_ID, SNAPSHOT_ID_FIELD)])
        bare = [rest for p in pieces if (rest := _bare(p)).has_deletes]
        others = [self.keys(bare, positions.read_many(self.storage, bare))] if bare else []
        deletes = [(d, p) for p in pieces for d in p.deletes if not d.moves]
        if not deletes:
            return others[0]
        uris = pa.table(
            {
                "__trickle_uri": [spark_uri(d.path) for d, _ in deletes],
                "__trickle_ordinal": [self.ordinals[p.file.id] for _, p in deletes],
                "__trickle_begin": [d.begin for d, _ in deletes],
            }
        )
        after, by = pieces[0].dead
        read = self.spark.read.schema(schema).parquet(*(d.path for d, _ in deletes))
        tagged = read.withColumn("__trickle_uri", F.col("_metadata.file_path")).join(
            F.broadcast(local_frame(self.spark, uris)), "__trickle_uri"
        )
        at = F.coalesce(F.col(SNAPSHOT_ID), F.col("__trickle_begin"))
        key = F.col("__trickle_ordinal") * F.lit(1 << _SHIFT) + F.col("pos")
        from_files = tagged.where((at > after) & (at <= by)).select(key.alias(_KEY))
        return reduce(DataFrame.unionAll, others, from_files)

    def inlined(self, number: int, rows: InlinedRows) -> DataFrame:
        data, size = rows.data, len(rows.row_ids)
        if self.request.addressed:
            data = data.append_column(FILE, pa.array([-1 - number] * size, pa.int64()))
            data = data.append_column(POSITION, pa.array(rows.row_ids, pa.int64()))
            data = data.append_column(STORED_ROW_ID, pa.array(rows.row_ids, pa.int64()))
        if self.request.weighted:
            data = data.append_column(WEIGHT, pa.array([rows.weight] * size, pa.int64()))
        frame = local_frame(self.spark, data)
        types = {f.name: f.dataType for f in output_schema(self.request)}
        return frame.select(*(F.col(_quoted(n)).cast(types[n]).alias(n) for n in frame.columns))


def output_schema(request: ScanRequest) -> StructType:
    """The columns of the rows that are read."""
    fields = struct_type(request.table.columns, with_ids=False, table=request.table.label).fields
    return StructType([*fields, *(StructField(name, LongType()) for name in added(request))])


def added(request: ScanRequest) -> list[str]:
    """What is told of each row beside the table's columns."""
    found = [FILE, POSITION, STORED_ROW_ID] if request.addressed else []
    return found + [BORN] * request.with_birth + [WEIGHT] * request.weighted


def _bare(piece: Piece) -> Piece:
    """The piece with only those deletes that Spark does not read: in no delete file, or in one to be corrected."""
    moved = tuple(d for d in piece.deletes if d.moves)
    return Piece(piece.file, deletes=moved, inlined=piece.inlined, staged=piece.staged, dead=piece.dead)


def _internal(name: str, id: int) -> StructField:
    return StructField(name, LongType(), metadata={"parquet.field.id": id})


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _null(column: Column) -> SparkColumn:
    return F.lit(None).cast(to_spark(column)).alias(column.name)


def _born(piece: Piece) -> SparkColumn:
    """The piece's life, asked of the embedded snapshot ids."""
    life = piece.life
    assert life is not None
    born = F.coalesce(F.col(SNAPSHOT_ID), F.lit(piece.file.begin))
    within = (born > life.after) & (born <= life.by)
    if not life.moved:
        return within
    moved = born.isin(*life.moved)
    return (within | moved) if life.moved_too else (within & ~moved)


def _named_schema(table: Table, names: Mapping[int, str]) -> StructType:
    """What a file without field ids is read as: the current types under the file's own names."""
    return StructType([_named_field(c, names, table.label) for c in table.columns if c.id in names])


def _named_field(column: Column, names: Mapping[int, str], table: str) -> StructField:
    type = to_spark(column, table)
    if isinstance(type, StructType):
        type = StructType([_named_field(c, names, table) for c in column.children if c.id in names])
    return StructField(names.get(column.id, column.name), type)


__all__ = ["BORN", "FILE", "POSITION", "STORED_ROW_ID", "ScanRequest", "added", "output_schema", "scan"]
