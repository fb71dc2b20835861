"""A transaction: one snapshot to read from, one draft to write to, names as it sees them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from pyspark.sql import DataFrame, SparkSession

from ..errors import NotFound, QueryError
from ..lake.definitions import Definitions
from ..lake.draft import Draft, TableDraft
from ..lake.entries import folder_of
from ..lake.files import live_files
from ..lake.held import Rows, as_frame
from ..lake.inlined import InlinedRows
from ..lake.lake import MAIN, Lake, missing
from ..lake.model import Bound, DataFile, Snapshot, Table, View
from ..sql.statement import Name


@dataclass
class Located:
    """Rows of a table and the files they stand in; FILE in the rows is an index into `files`."""

    spark: SparkSession
    rows: Rows
    files: list[DataFile]
    inlined: list[InlinedRows]

    @property
    def frame(self) -> DataFrame:
        return as_frame(self.rows, self.spark)

    @property
    def most_rows(self) -> int:
        return sum(f.records for f in self.files) + sum(len(r.row_ids) for r in self.inlined)


@dataclass
class Transaction:
    lake: Lake
    draft: Draft
    on_read: Callable[[Table], None] | None = None
    """Told of every table before its rows are read."""
    may_rewrite: Callable[[Table], bool] = lambda table: False
    """Whether rows of a table that stay may be written anew with those that come: they count as changed."""
    _renamed: dict[tuple[str, str], int] = field(default_factory=dict)

    @classmethod
    def begin(cls, lake: Lake) -> Transaction:
        return cls(lake, Draft(lake.head()))

    @property
    def base(self) -> Snapshot:
        return self.draft.base

    @property
    def definitions(self) -> Definitions:
        return self.lake.definitions

    # Names.

    def find_table(self, name: Name) -> Table | None:
        """The table of that name as this transaction sees it."""
        schema = name.schema or MAIN
        named = [part for part in self.draft.tables.values() if _is(part.table, schema, name.name)]
        if named:
            # One that was dropped here may have a successor.
            return next((part.table for part in named if not part.dropped), None)
        found = self.lake.table(schema, name.name, self.base)
        if found is not None and found.id in self.draft.tables:
            return None  # dropped or renamed here
        return found

    def table(self, name: Name) -> Table:
        found = self.find_table(name)
        if found is None:
            if self.find_view(name) is not None:
                raise QueryError(f'"{name.label}" is a view', hint="change the tables that it reads.")
            raise missing("table", name.label, self.table_names())
        return found

    def find_view(self, name: Name) -> View | None:
        schema = name.schema or MAIN
        for view, _ in self.draft.created_views.values():
            if _is(view, schema, name.name):
                return view
        found = self.lake.view(schema, name.name, self.base)
        return None if found is not None and found.id in self.draft.dropped_views else found

    def schema_home(self, name: str) -> tuple[int, str]:
        """(id, folder) of a schema."""
        if name in self.draft.created_schemas:
            return self.draft.created_schemas[name], self._created_home(name)
        found = self.schemas().get(name.casefold())
        if found is None:
            raise NotFound(f'schema "{name}" does not exist', hint=f"CREATE SCHEMA {name} first.")
        return found

    def schemas(self) -> dict[str, tuple[int, str]]:
        with self.lake.reading() as connection:
            stored = self.definitions.schemas(connection, self.base)
        live = {n.casefold(): v for n, v in stored.items() if n not in self.draft.dropped_schemas}
        created = {n.casefold(): (id, self._created_home(n)) for n, id in self.draft.created_schemas.items()}
        return live | created

    def _created_home(self, schema: str) -> str:
        return self.lake.storage.root + folder_of(schema, self.draft.schema_uuids[schema])

    def all_tables(self) -> list[Table]:
        with self.lake.reading() as connection:
            stored = self.definitions.tables(connection, self.base)
        kept = [t for t in stored if t.id not in self.draft.tables]
        own = [p.table for p in self.draft.tables.values() if not p.dropped]
        return sorted([*kept, *own], key=lambda t: (t.schema, t.name))

    def all_views(self) -> list[View]:
        with self.lake.reading() as connection:
            stored = self.definitions.views(connection, self.base)
        kept = [v for v in stored if v.id not in self.draft.dropped_views]
        return sorted([*kept, *(v for v, _ in self.draft.created_views.values())], key=lambda v: (v.schema, v.name))

    def table_names(self) -> list[str]:
        return [t.label for t in self.all_tables()]

    # Rows.

    def part(self, table: Table) -> TableDraft | None:
        return self.draft.tables.get(table.id)

    def rows(self, table: Table, bounds: Sequence[Bound] = ()) -> DataFrame:
        """The table as this transaction sees it."""
        if self.on_read is not None:
            self.on_read(table)
        return self.lake.state(self._stored(table), self.base, bounds, self.part(table))[0]

    def read(self, table: Table, bounds: Sequence[Bound] = ()) -> Rows:
        """The same, what is small read at once, by the driver."""
        return self.lake.read_state(self._stored(table), self.base, bounds, self.part(table))[0]

    def located(self, table: Table, bounds: Sequence[Bound] = (), here: bool = False) -> Located:
        """The same, each row with its place."""
        stored, part = self._stored(table), self.part(table)
        found = self.lake.read_state(stored, self.base, bounds, part, addressed=True, here=here)
        return Located(self.lake.spark, *found)

    def most_rows(self, table: Table) -> int:
        """How many rows the table's files hold, by the catalog alone."""
        part = self.part(table)
        own = sum(f.records for f in part.added.values()) if part else 0
        if part is not None and part.before is None:
            return own
        with self.lake.reading() as connection:
            files = live_files(self.lake.catalog, connection, table, self.base.id)
        return own + sum(f.records for f in files)

    def _stored(self, table: Table) -> Table:
        """The table as it is read from the catalog: columns as this transaction defines them."""
        part = self.part(table)
        return table if part is None else replace(part.table)


def _is(named: Table | View, schema: str, name: str) -> bool:
    return named.schema.casefold() == schema.casefold() and named.name.casefold() == name.casefold()
