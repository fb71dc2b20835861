"""A lake: its catalog, its files and the Spark that reads them, behind one door."""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
from pyspark.sql import DataFrame, SparkSession
from sqlalchemy import Connection, select

from ..config import Settings
from ..errors import ConfigError, LakeError, NotFound, StorageError
from ..plan.functions import Functions
from ..spark import agree, desk, is_connect, make_active
from ..standing import Standing
from . import inlined, mapping, pieces, positions, snapshots
from .bitmap import Bitmaps
from .catalog import Catalog
from .change_sets import ChangeSets
from .changes import ChangedPieces, consolidate
from .commit import Committer
from .definitions import Definitions
from .draft import Draft, TableDraft
from .files import files_lacking, live_files
from .foreign import translated
from .held import Held, Rows, as_frame
from .inlined import InlinedRows
from .local import MOST_ROWS, SMALL_STATE, Limits, read_small
from .location import catalog_at, catalog_file, is_postgres
from .model import Bound, DataFile, Snapshot, Table, View
from .pieces import Piece
from .placing import Placing
from .scan import ScanRequest, output_schema, scan
from .shelf import LEAST_FOOTERS, Shelf
from .small_states import SmallStates
from .storage import Storage, is_local, normal
from .write import Writer

MAIN = "main"
StartSpark = Callable[[], SparkSession]


class Lake:
    """Reads states and changes, writes files, commits drafts."""

    def __init__(self, catalog: Catalog, storage: Storage, spark: StartSpark, settings: Settings) -> None:
        self.catalog, self.storage, self.settings = catalog, storage, settings
        self._start_spark = spark
        self._starting = threading.RLock()
        self._standing: Standing | None = None
        self.definitions = Definitions(catalog, storage.root)
        self.committer = Committer(catalog, storage)
        self.placing = Placing(catalog, storage)
        self.changed_pieces = ChangedPieces(catalog, self.placing)
        self.bitmaps = Bitmaps()
        budget = settings["lake.driver_cache_mb"] << 20
        self.small_states = SmallStates(budget // 8)
        self.change_sets = ChangeSets(budget // 16)
        self.shelf = Shelf(budget * 9 // 16, max(budget // 8, LEAST_FOOTERS), order_bytes=budget // 8)
        self.functions: Callable[[Collection[str]], Functions] = lambda names: {}
        """User-defined functions by their names; the registry, which knows them, is put here by whoever opens it."""

    @cached_property
    def spark(self) -> SparkSession:
        """Started when first needed: what the catalog alone can answer waits for no Spark."""
        return self._once("spark", self._start_spark)

    @property
    def has_spark(self) -> bool:
        """Whether it was started, or given, and asked for."""
        return "spark" in vars(self)

    @property
    def desk(self) -> SparkSession:
        """The same Spark, set up for the few rows that the driver holds; expressions mean the same in both."""
        found = self._once("_desk", lambda: desk(self.spark))
        agree(found, self.spark)
        return found

    @property
    def standing(self) -> Standing | None:
        """The desk's standing plans; None where there shall be none."""
        desk = self.desk
        if is_connect(desk) or not self.settings["refresh.standing_plans"]:
            return None
        with self._starting:
            if self._standing is None:
                self._standing = Standing(desk)
            return self._standing

    def leave_desk(self) -> None:
        """Whoever asks Spark for the active session finds the one that is no desk."""
        if vars(self).get("_desk") not in (None, self.spark):
            make_active(self.spark)

    def _once(self, name: str, start: StartSpark) -> SparkSession:
        """One for all threads: what one of them makes known to a session, it looks for there again."""
        with self._starting:
            found: SparkSession = vars(self).get(name) or start()
            vars(self)[name] = found
            return found

    def forget(self, paths: Set[str]) -> None:
        """What the driver keeps of files that are about to be removed."""
        self.shelf.forget(paths)
        positions.forget(self.storage, paths)

    # Snapshots and definitions.

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self.catalog.reading() as connection:
            yield connection

    def head(self) -> Snapshot:
        with self.reading() as connection:
            return snapshots.head(self.catalog, connection)

    def snapshot(self, id: int) -> Snapshot:
        with self.reading() as connection:
            return snapshots.at(self.catalog, connection, id)

    def table(self, schema: str, name: str, at: Snapshot) -> Table | None:
        with self.reading() as connection:
            return self.definitions.table(connection, at, schema, name)

    def view(self, schema: str, name: str, at: Snapshot) -> View | None:
        with self.reading() as connection:
            return self.definitions.view(connection, at, schema, name)

    # Reading.

    def state(
        self,
        table: Table,
        at: Snapshot,
        bounds: Sequence[Bound] = (),
        part: TableDraft | None = None,
        addressed: bool = False,
    ) -> tuple[DataFrame, list[DataFile], list[InlinedRows]]:
        """The table's rows at a snapshot, with a transaction's own work on top; and where they stand."""
        rows, files, kept = self.read_state(table, at, bounds, part, addressed, here=False)
        return as_frame(rows, self.spark), files, kept

    def read_state(
        self,
        table: Table,
        at: Snapshot,
        bounds: Sequence[Bound] = (),
        part: TableDraft | None = None,
        addressed: bool = False,
        here: bool = True,
    ) -> tuple[Rows, list[DataFile], list[InlinedRows]]:
        """The same; with `here` what is small is read at once, by the driver."""
        created_here = part is not None and part.before is None
        with self.reading() as connection:
            files = [] if created_here else self.live_files(connection, table, at.id, bounds)
            rows = [] if created_here else inlined.state(self.catalog, connection, table, at.id)
            request = self.request(connection, table, pieces.state(files, at.id), rows)
        if part is not None:
            request = _with_draft(request, part)
        request = replace(request, addressed=addressed)
        with translated(f'table "{table.label}"'):
            found: Rows | None = self._state_here(request, bounds, is_own=part is not None) if here else None
            if found is None:
                found = scan(self.spark, self.storage, request, self.bitmaps)
        return found, [p.file for p in request.pieces], list(request.inlined)

    def _state_here(self, request: ScanRequest, bounds: Sequence[Bound], is_own: bool) -> Held | None:
        """The rows as the driver reads them; a small table as a whole, which the next one who asks finds here."""

        def read(bounds: Sequence[Bound]) -> Held | None:
            return self._read_here(replace(request, bounds=bounds), self._limits(bounds))

        is_small = sum(p.file.records for p in request.pieces) <= SMALL_STATE
        if is_own or request.addressed or not is_small:
            return read(bounds)
        whole = self.small_states.get(request, lambda: read(()))
        return None if whole is None else whole.within(bounds)

    def changes(self, table: Table, start: int, end: int) -> DataFrame:
        """The net change of the table in (start, end], under its columns at `end`, equal rows summed up."""
        return consolidate(self.raw_changes(table, start, end))

    def raw_changes(self, table: Table, start: int, end: int) -> DataFrame:
        """The same, one row per copy, each of weight +1 or −1; equal rows may appear on both sides."""
        return as_frame(self._change(table, start, end), self.spark)

    def read_changes(self, table: Table, start: int, end: int) -> Rows:
        """The same for refreshes: what is small is held by the driver, and read once for all who ask."""
        return self.change_sets.get(table, start, end, lambda wider: self._change(wider, start, end))

    def _change(self, table: Table, start: int, end: int) -> Rows:
        with self.reading() as connection:
            snapshots.at(self.catalog, connection, start)
            found, rows = self.change_pieces(connection, table, start, end)
            request = self.request(connection, table, found, rows)
        return self.weighted(request)

    def live_files(self, connection: Connection, table: Table, at: int, bounds: Sequence[Bound] = ()) -> list[DataFile]:
        """The files that hold the table's rows at a snapshot, with the deletes that made it."""
        files = live_files(self.catalog, connection, table, at, bounds)
        return self.placing.files(connection, table, files, at)

    def change_pieces(
        self, connection: Connection, table: Table, start: int, end: int
    ) -> tuple[list[Piece], list[InlinedRows]]:
        """The physical rows gained and lost in (start, end]."""
        found = list(self.changed_pieces.get(connection, table, start, end))
        return found, inlined.change(self.catalog, connection, table, start, end)

    def weighted(self, request: ScanRequest) -> Rows:
        """The pieces of a change with their weights; what is small is read by the driver, not by a Spark job."""
        request = replace(request, weighted=True)
        with translated(f'changes of table "{request.table.label}"'):
            held = self._read_here(request, Limits(self._driver_bytes, MOST_ROWS))
            return scan(self.spark, self.storage, request, self.bitmaps) if held is None else held

    @property
    def _driver_bytes(self) -> int:
        return int(self.settings["lake.driver_read_mb"]) << 20

    def _limits(self, bounds: Sequence[Bound]) -> Limits:
        """What is looked up may be much to read, if little is found; a whole state must be small itself."""
        return Limits(self._driver_bytes, MOST_ROWS if bounds else SMALL_STATE)

    def _read_here(self, request: ScanRequest, limits: Limits) -> Held | None:
        most = sum(p.file.records for p in request.pieces if not p.only_deleted)
        if not limits.bytes or (most > limits.rows and not request.bounds):
            return None
        rows = read_small(self.storage, request, limits, self.shelf)
        return None if rows is None else Held(rows, output_schema(request))

    def request(self, connection: Connection, table: Table, found: list[Piece], rows: list[InlinedRows]) -> ScanRequest:
        lacking: dict[int, set[int]] = defaultdict(set)
        files = [p.file for p in found]
        for column in table.columns:
            if column.initial_default is not None:
                for id in files_lacking(self.catalog, connection, table, files, column.id, column.since):
                    lacking[id].add(column.id)
        retyped: dict[int, list[tuple[int, str]]] = defaultdict(list)
        for id, type, since, until in self.definitions.unreadable_types(connection, table):
            for file in files:
                if since <= file.begin < until:
                    retyped[file.id].append((id, type))
        mapped = any(f.mapping_id is not None for f in files)
        return ScanRequest(
            table,
            found,
            rows,
            lacking={id: frozenset(columns) for id, columns in lacking.items()},
            retyped={id: tuple(sorted(columns)) for id, columns in retyped.items()},
            names=mapping.names(self.catalog, connection, table) if mapped else {},
            small_rows=self.settings["lake.small_delete_rows"],
            small_files=self.settings["lake.small_delete_files"],
        )

    def record_count(self, connection: Connection, table: Table) -> int:
        """How many rows were ever added to the table and not compacted away: an upper bound of what it holds."""
        stats = self.catalog.tables["table_stats"].c
        return int(connection.execute(select(stats.record_count).where(stats.table_id == table.id)).scalar() or 0)

    # Writing.

    def writer(self, table: Table) -> Writer:
        settings = self.settings
        return Writer(self.storage, table, settings["lake.compression"], settings["lake.row_group_rows"])

    def commit(self, draft: Draft) -> int:
        """The new snapshot's id; files of a draft that could not be committed are removed."""
        try:
            return self.committer.commit(draft)
        except BaseException:
            draft.discard(self.storage)
            raise

    def close(self) -> None:
        self.catalog.close()


def _with_draft(request: ScanRequest, part: TableDraft) -> ScanRequest:
    """What a transaction sees: committed pieces less what it deleted, its own files, its own columns."""
    committed = [
        replace(p, staged=part.removed.get(p.file.id, np.empty(0, np.int64)))
        for p in request.pieces
        if p.file.id not in part.ended
    ]
    own = [
        Piece(f, staged=part.removed.get(id, np.empty(0, np.int64)))
        for id, f in part.added.items()
        if len(part.removed.get(id, ())) < f.records
    ]
    rows = [_without(r, part.inlined_removed.get(r.store, set())) for r in request.inlined]
    return replace(request, table=part.table, pieces=[*committed, *own], inlined=[r for r in rows if len(r.row_ids)])


def _without(rows: InlinedRows, gone: set[int]) -> InlinedRows:
    if not gone:
        return rows
    kept = [n for n, id in enumerate(rows.row_ids) if id not in gone]
    return replace(rows, row_ids=tuple(rows.row_ids[n] for n in kept), data=rows.data.take(kept))


def open_lake(location: str | os.PathLike[str], data_path: str | None, spark: StartSpark, settings: Settings) -> Lake:
    """The lake at a directory, a catalog file or a `postgresql://` URL; created if absent."""
    text = os.fspath(location)
    if is_postgres(text):
        return _open_postgres(text, data_path, spark, settings)
    return _open_directory(catalog_file(text), data_path, spark, settings)


def _open_directory(file: Path, data_path: str | None, spark: StartSpark, settings: Settings) -> Lake:
    with translated(f'lake "{file.parent}"'):
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except FileExistsError as error:
            raise StorageError(f'"{file.parent}" is not a directory', hint="choose another path.") from error
    catalog = catalog_at(file, settings)
    home = normal(data_path) if data_path else f"{file.parent}/data/"
    is_new = not catalog.has_lake()
    catalog.use_wal()
    if is_new:
        Storage(home).make_root()
        catalog.create(home)
        catalog.add_indexes()
    facts = catalog.check()
    root = home if data_path else _stored_root(facts.get("data_path", home), home, file.parent)
    if normal(facts.get("data_path", root)) != root and not data_path:
        catalog.move_data(root)
    return _opened(catalog, root, spark, settings)


def _stored_root(stored: str, home: str, beside: Path) -> str:
    """The folder beside the catalog if there is one (the lake may have moved), else where the catalog says."""
    if os.path.isdir(home) or not is_local(stored):
        return home if is_local(stored) else normal(stored)
    return normal(stored if os.path.isabs(stored) else str(beside / stored))


def _open_postgres(url: str, data_path: str | None, spark: StartSpark, settings: Settings) -> Lake:
    catalog = catalog_at(url, settings)
    if not catalog.has_lake():
        if data_path is None:
            raise ConfigError(
                f'lake "{catalog.label}" does not exist yet',
                hint="pass data_path= with the folder or bucket where its files shall live.",
            )
        Storage(normal(data_path)).make_root()
        catalog.create(normal(data_path))
        catalog.add_indexes()
    facts = catalog.check()
    root = normal(data_path or facts.get("data_path", ""))
    return _opened(catalog, root, spark, settings)


def _opened(catalog: Catalog, root: str, spark: StartSpark, settings: Settings) -> Lake:
    lake = Lake(catalog, Storage(root), spark, settings)
    if not lake.head().id >= 0:
        raise LakeError(f'lake "{catalog.label}" has no snapshot', hint="restore the catalog from a backup.")
    return lake


def missing(kind: str, label: str, known: Sequence[str] = ()) -> NotFound:
    """The error for a name that is not there, with the nearest that is."""
    import difflib

    near = difflib.get_close_matches(label, known, n=1)
    hint = f'did you mean "{near[0]}"?' if near else "SHOW TABLES lists what there is."
    return NotFound(f'{kind} "{label}" does not exist', hint=hint)
