"""What a stream table should hold, computed in full, and how the stored table comes to hold it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql.types import DataType

from ..delta.state import initial
from ..errors import QueryError
from ..execute import ddl
from ..execute.binding import Binding
from ..execute.transaction import Transaction
from ..lake.foreign import translated
from ..lake.lake import Lake
from ..lake.model import Table
from ..registry.models import StreamTable
from ..sql.render import render
from ..sql.statement import Name
from . import renewal
from .compile import Compiled
from .frames import Frames
from .intermediates import Rebuild, wanted
from .lookups import Read
from .recursion import Recursions
from .rounds import cast
from .sources import Pinned
from .stored import Fit, add_stored_table, add_view, fit, laid_out
from .windows import Maker, Window, makers


@dataclass
class Content:
    """The rows of a compiled query at the end of its windows."""

    lake: Lake
    table: StreamTable
    compiled: Compiled
    windows: Mapping[str, Window]
    prefix: str
    """Begins the names of the relations that Spark sees."""
    kept: tuple[str, ...] = ()
    """The intermediates that the rows were computed over, once they were."""
    _rows: DataFrame | None = None

    def __post_init__(self) -> None:
        self.compiled = self.compiled.entire

    def over_intermediates(self, transaction: Transaction) -> DataFrame:
        """The stored columns, computed from scratch; what is to be stored of the way there is staged."""
        names = wanted(self.lake, self.table, self.compiled)
        if not names and not self.table.intermediates:
            return self.rows(transaction)
        sources = makers(self.lake, self.windows)
        over = Rebuild(transaction, self.table, self.compiled, sources, self.prefix).all(names)
        self.kept = tuple(k.intermediate.name for k in over.kept)
        return self._from(over, sources, {k.intermediate.name: k.table for k in over.kept})

    def rows(self, transaction: Transaction) -> DataFrame:
        """The stored columns, computed from scratch; recursions are, when this is asked for first."""
        if self._rows is None:
            self._rows = self._computed(transaction)
        return self._rows

    def _computed(self, transaction: Transaction) -> DataFrame:
        storage = self.compiled.storage
        if storage is None:
            binding = Binding(Pinned.at(self.lake, transaction, self.windows))
            try:
                return binding.run(self.compiled.text, "defining query")
            finally:
                binding.close()
        return self._from(self.compiled, makers(self.lake, self.windows), {})

    def _from(self, compiled: Compiled, sources: dict[Read, Maker], more: Mapping[str, Table]) -> DataFrame:
        storage = compiled.storage
        if storage is None:
            raise AssertionError("a query without a plan has no intermediates")
        frames = Frames(self.lake, self.prefix, {**compiled.tables, **more}, sources)
        Recursions.join(frames, compiled.recursions)
        try:
            return self.lake.spark.sql(render(initial(storage), frames.relation, storage.stored_labels))
        finally:
            frames.close()

    def typed_rows(self, transaction: Transaction) -> DataFrame:
        """The same, visible columns with the types that Spark gives the query itself."""
        rows = self.rows(transaction)
        if self.compiled.storage is None:
            return rows
        types = self._types(transaction)
        self._require_columns(len(types))
        return cast(rows, types) if types else rows

    def _require_columns(self, number: int) -> None:
        """Spark sees as many columns as the plan has: another number is another query."""
        mine = len(self.compiled.query.labels) if self.compiled.query is not None else number
        if number and number != mine:
            raise QueryError(
                f'the query of "{self.table.label}" has {number} columns for Spark, and {mine} in its plan',
                hint="word it otherwise; and please report it.",
            )

    def _types(self, transaction: Transaction) -> list[DataType]:
        """What Spark's analyzer says of the query; nothing where it knows less of SQL than Trickle."""
        binding = Binding(transaction)
        try:
            with translated(f'stream table "{self.table.label}"'):
                fields = binding.run(self.compiled.shape).schema.fields
        except QueryError:
            return []
        finally:
            binding.close()
        return [field.dataType for field in fields]

    def create(self, transaction: Transaction, fill: bool) -> int:
        """A new stored table and its published view; how many rows it got."""
        rows = self.typed_rows(transaction)
        stored = add_stored_table(transaction, self.table, rows, self.compiled.storage)
        self._publish(transaction, rows)
        return renewal.fill(transaction, stored, self.over_intermediates(transaction)) if fill else 0

    def fit(self, transaction: Transaction, stored: Table) -> Fit:
        """How well the stored table's columns are those that the rows will have."""
        return fit(stored, self.typed_rows(transaction).schema)

    def refill(self, transaction: Transaction, stored: Table) -> tuple[int, int]:
        """The cheapest that is right: the difference where the columns stay, a new stored table where not."""
        rows = self.typed_rows(transaction)
        view = transaction.find_view(Name(self.table.schema, self.table.name))
        if view is not None:
            transaction.draft.dropped_views[view.id] = view
        if fit(stored, rows.schema) is Fit.ALL:
            self._publish(transaction, rows)
            as_wished = laid_out(stored, self.table, self.compiled.storage)
            if as_wished != stored:
                transaction.draft.of(stored).table = as_wished
            return self.replace(transaction, as_wished)
        ddl.drop(transaction, stored)
        fresh = add_stored_table(transaction, self.table, rows, self.compiled.storage)
        self._publish(transaction, rows)
        return renewal.fill(transaction, fresh, self.over_intermediates(transaction)), 0

    def replace(self, transaction: Transaction, stored: Table) -> tuple[int, int]:
        """Stage the difference between what is stored and what should be; (added, removed)."""
        return renewal.replace_content(transaction, stored, self.over_intermediates(transaction))

    def _publish(self, transaction: Transaction, rows: DataFrame) -> None:
        query, storage = self.compiled.query, self.compiled.storage
        labels = query.labels if query is not None else rows.columns
        add_view(transaction, self.table, labels, storage.visible_label if storage else None)
