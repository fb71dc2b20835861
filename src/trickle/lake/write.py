"""New data files: small local data written by the driver, everything else by Spark."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, LongType, MapType, StructField, StructType

from .footer import Footer, read_footer, read_footers
from .foreign import translated
from .mapping import needed
from .model import ROW_ID, ROW_ID_FIELD, SNAPSHOT_ID, SNAPSHOT_ID_FIELD, Column, DataFile, PartitionKey, Table
from .storage import Storage, is_local
from .text import key_text, value_key
from .types import struct_type, to_arrow

_TRANSFORMS = ("identity", "year", "month", "day", "hour")
_NULL_FOLDER = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class Writer:
    """Writes the files of one table; nothing is visible before a commit names them."""

    storage: Storage
    table: Table
    compression: str = "zstd"
    row_group_rows: int = 131_072
    """Small row groups let readers of few keys skip most of a file."""

    @property
    def partition_keys(self) -> tuple[PartitionKey, ...]:
        """The keys files are split by; a transform that is not ours leaves the files unpartitioned."""
        keys = self.table.partitioned_by
        return keys if all(k.transform in _TRANSFORMS for k in keys) else ()

    @property
    def cluster_columns(self) -> list[tuple[str, bool, bool]]:
        """(column, descending, nulls last) of the cluster keys that are plain columns."""
        found = []
        for key in self.table.clustered_by:
            column = self.table.column(key.expression.strip('"`'))
            if column is None:
                break
            found.append((column.name, key.descending, key.nulls_last))
        return found

    # By the driver.

    def write_arrow(
        self, data: pa.Table, row_ids: np.ndarray | None = None, births: np.ndarray | None = None
    ) -> list[DataFile]:
        """Rows that the driver holds, one file a partition."""
        data = data.cast(to_arrow(self.table.columns, self.table.label))
        for name, id, values in ((ROW_ID, ROW_ID_FIELD, row_ids), (SNAPSHOT_ID, SNAPSHOT_ID_FIELD, births)):
            if values is not None:
                data = data.append_column(_internal(name, id), pa.array(values, pa.int64()))
        data = self._sorted(data)
        with translated(f'writing table "{self.table.label}"'):
            return [self._write_file(part, values) for part, values in self._split(data)]

    def _sorted(self, data: pa.Table) -> pa.Table:
        keys = [(n, "descending" if down else "ascending") for n, down, _ in self.cluster_columns]
        return data.sort_by(keys) if keys and data.num_rows > 1 else data

    def _split(self, data: pa.Table) -> list[tuple[pa.Table, tuple[str | None, ...]]]:
        keys = self.partition_keys
        if not keys or data.num_rows == 0:
            return [(data, ())]
        texts = [self._partition_texts(data, k) for k in keys]
        groups: dict[tuple[str | None, ...], list[int]] = {}
        for row, values in enumerate(zip(*texts, strict=True)):
            groups.setdefault(values, []).append(row)
        return [(data.take(pa.array(rows)), values) for values, rows in groups.items()]

    def _partition_texts(self, data: pa.Table, key: PartitionKey) -> list[str | None]:
        column = self._column(key)
        values = data.column(column.name)
        if key.transform == "identity":
            return [None if k is None else key_text(value_key(k, column.type), column.type) for k in _keys(values)]
        return [None if v is None else str(v) for v in getattr(pc, key.transform)(values).to_pylist()]

    def _write_file(self, data: pa.Table, values: tuple[str | None, ...]) -> DataFile:
        path = self.storage.new_file(self.table.path)
        system, bare = self.storage.filesystem(path)
        codec = "NONE" if self.compression == "none" else self.compression
        size = self.row_group_rows
        pq.write_table(data, bare, size, filesystem=system, compression=codec, store_schema=False)
        return self._file(path, read_footer(path, self.table.columns), values)

    # By Spark.

    def write_spark(
        self,
        rows: DataFrame,
        with_row_ids: bool = False,
        with_births: bool = False,
    ) -> list[DataFile]:
        """Rows of a DataFrame that has the table's columns (and row ids and births, if said), by a Spark job."""
        folder = self.storage.new_folder(self.table.path)
        rows = rows.select(*self._identified(rows, with_row_ids, with_births))
        writer = self._laid_out(rows).write.option("compression", self.compression)
        writer = writer.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
        writer = writer.option("parquet.block.row.count.limit", str(self.row_group_rows))
        keys = self.partition_keys
        if keys:
            writer = writer.partitionBy(*(f"__p{n}" for n in range(len(keys))))
        try:
            with translated(f'writing table "{self.table.label}"'):
                writer.mode("append").parquet(folder)
                internal = ((ROW_ID,) if with_row_ids else ()) + ((SNAPSHOT_ID,) if with_births else ())
                return self._collect(folder, internal)
        except BaseException:
            self.storage.remove_folder(folder)
            raise

    def _identified(self, rows: DataFrame, with_row_ids: bool, with_births: bool) -> list[SparkColumn]:
        """The columns to write, each carrying its field id; `to` alone would drop those of unchanged columns."""
        fields = list(struct_type(self.table.columns, with_ids=True, table=self.table.label).fields)
        if with_row_ids:
            fields.append(StructField(ROW_ID, LongType(), metadata={"parquet.field.id": ROW_ID_FIELD}))
        if with_births:
            fields.append(StructField(SNAPSHOT_ID, LongType(), metadata={"parquet.field.id": SNAPSHOT_ID_FIELD}))
        held = {f.name: f.dataType for f in rows.schema.fields}
        return [_identified(f, held[f.name]) for f in fields]

    def _laid_out(self, rows: DataFrame) -> DataFrame:
        for n, key in enumerate(self.partition_keys):
            rows = rows.withColumn(f"__p{n}", self._transformed(key))
        order = [_order(*c) for c in self.cluster_columns]
        parts = [F.col(f"__p{n}") for n in range(len(self.partition_keys))]
        return rows.sortWithinPartitions(*parts, *order) if order else rows

    def _transformed(self, key: PartitionKey) -> SparkColumn:
        column = F.col("`" + self._column(key).name.replace("`", "``") + "`")
        return column if key.transform == "identity" else getattr(F, key.transform)(column)

    def _collect(self, folder: str, internal: tuple[str, ...]) -> list[DataFile]:
        mapped = needed(self.table.columns)
        paths = [f.path for f in self.storage.parquet_files(folder) if f.bytes > 0]
        if mapped and internal:
            paths = [self._with_all_ids(path, internal) for path in paths]
        found = []
        for path, footer in zip(paths, read_footers(paths, self.table.columns), strict=True):
            if footer.records == 0:
                self.storage.remove(path)
                continue
            written = self._file(path, footer, self._values_of(path[len(folder) :], footer))
            found.append(replace(written, mapping_id=-1) if mapped and not internal else written)
        if is_local(folder):
            self._drop_checksums(folder)
        return found

    def _with_all_ids(self, path: str, internal: tuple[str, ...]) -> str:
        """The file again, by the driver, batch by batch, with field ids down to list elements.

        DuckDB finds the columns of Spark's lists and maps by a name mapping, but row ids only without one.
        """
        ids = {ROW_ID: ROW_ID_FIELD, SNAPSHOT_ID: SNAPSHOT_ID_FIELD}
        own = [_internal(n, ids[n]) for n in internal]
        schema = pa.schema([*to_arrow(self.table.columns, self.table.label), *own])
        new = f"{path.removesuffix('.parquet')}-ids.parquet"
        system, source = self.storage.filesystem(path)
        _, target = self.storage.filesystem(new)
        codec = "NONE" if self.compression == "none" else self.compression
        with (
            pq.ParquetFile(source, filesystem=system) as old,
            pq.ParquetWriter(target, schema, filesystem=system, compression=codec, store_schema=False) as writer,
        ):
            for batch in old.iter_batches(batch_size=self.row_group_rows):
                writer.write_table(pa.Table.from_batches([batch]).select(schema.names).cast(schema))
        self.storage.remove(path)
        return new

    def _drop_checksums(self, folder: str) -> None:
        from pathlib import Path

        for checksum in Path(folder.removeprefix("file://")).rglob(".*.crc"):
            checksum.unlink(missing_ok=True)

    def _values_of(self, inner: str, footer: Footer) -> tuple[str | None, ...]:
        """Partition values of a file: a transform's from its folder, an identity's from its statistics."""
        stats = {s.column_id: s for s in footer.stats}
        folders = re.findall(r"__p\d+=([^/]*)/", inner)
        values: list[str | None] = []
        for key, folder in zip(self.partition_keys, folders, strict=True):
            if folder == _NULL_FOLDER:
                values.append(None)
            else:
                values.append(stats[key.column_id].min if key.transform == "identity" else folder)
        return tuple(values)

    # Both.

    def _column(self, key: PartitionKey) -> Column:
        found = self.table.column_by_id(key.column_id)
        assert found is not None, f"partition key {key.column_id} of {self.table.label} has no column"
        return found

    def _file(self, path: str, footer: Footer, values: tuple[str | None, ...]) -> DataFile:
        return DataFile(
            id=-1,
            path=path,
            records=footer.records,
            bytes=footer.bytes,
            footer_bytes=footer.footer_bytes,
            row_id_start=None,
            begin=-1,
            partition_id=self.table.partition_id if self.partition_keys else None,
            partition_values=values,
            stats=footer.stats,
        )


def _internal(name: str, id: int) -> pa.Field:
    return pa.field(name, pa.int64(), metadata={"PARQUET:field_id": str(id)})


def _identified(field: StructField, held: DataType) -> SparkColumn:
    column = F.col("`" + field.name.replace("`", "``") + "`")
    if held != field.dataType or isinstance(held, StructType | ArrayType | MapType):
        column = column.cast(field.dataType)
    return column.alias(field.name, metadata=field.metadata)


def _keys(values: pa.ChunkedArray) -> list[object]:
    """Days and microseconds of dates and timestamps, whose years Python may not have; other values as they are."""
    if pa.types.is_timestamp(values.type):
        return list(values.cast(pa.timestamp("us", values.type.tz)).cast(pa.int64()).to_pylist())
    return list((values.cast(pa.int32()) if pa.types.is_date32(values.type) else values).to_pylist())


def _order(name: str, descending: bool, nulls_last: bool) -> SparkColumn:
    column = F.col("`" + name.replace("`", "``") + "`")
    if descending:
        return column.desc_nulls_last() if nulls_last else column.desc_nulls_first()
    return column.asc_nulls_last() if nulls_last else column.asc_nulls_first()


def grouped_positions(ordinals: np.ndarray, positions: np.ndarray) -> dict[int, np.ndarray]:
    """Positions by the ordinal of their file, each sorted."""
    order = np.lexsort((positions, ordinals))
    ordinals, positions = ordinals[order], positions[order]
    starts = np.flatnonzero(np.r_[True, ordinals[1:] != ordinals[:-1]]) if len(ordinals) else np.empty(0, np.int64)
    edges: Sequence[int] = [*starts.tolist(), len(ordinals)]
    return {int(ordinals[a]): positions[a:b] for a, b in pairwise(edges)}
