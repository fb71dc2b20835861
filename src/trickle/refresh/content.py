"""What a stream table should hold, computed in full, and how the stored table comes to hold it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType

from ..delta.state import initial
from ..errors import QueryError
from ..execute import ddl
from ..execute.binding import Binding
from ..execute.transaction import Transaction
from ..lake.changes import consolidate
from ..lake.foreign import translated
from ..lake.lake import Lake
from ..lake.model import WEIGHT, Table
from ..registry.models import StreamTable
from ..sql.names import quote_spark
from ..sql.render import render
from ..sql.statement import Name
from . import apply as applying
from .compile import Compiled
from .recursion import Recursions
from .rounds import cast
from .sources import Pinned
from .stored import Fit, add_stored_table, add_view, fit, laid_out
from .windows import Frames, Window, makers

LARGE = 1 << 62


@dataclass(frozen=True)
class Content:
    """The rows of a compiled query at the end of its windows."""

    lake: Lake
    table: StreamTable
    compiled: Compiled
    windows: Mapping[str, Window]
    prefix: str
    """Begins the names of the relations that Spark sees."""

    def rows(self, transaction: Transaction) -> DataFrame:
        """The stored columns, computed from scratch."""
        storage = self.compiled.storage
        if storage is None:
            binding = Binding(Pinned.at(self.lake, transaction, self.windows))
            try:
                return binding.run(self.compiled.text, "defining query")
            finally:
                binding.close()
        frames = Frames(self.lake, self.prefix, self.compiled.tables, makers(self.lake, self.windows, None))
        Recursions.join(frames, self.compiled.recursions)
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
        return cast(rows, types) if types else rows

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
        return applying.fill(transaction, stored, rows) if fill else 0

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
            wanted = laid_out(stored, self.table, self.compiled.storage)
            if wanted != stored:
                transaction.draft.of(stored).table = wanted
            return replace_content(transaction, wanted, rows)
        ddl.drop(transaction, stored)
        fresh = add_stored_table(transaction, self.table, rows, self.compiled.storage)
        self._publish(transaction, rows)
        return applying.fill(transaction, fresh, rows), 0

    def _publish(self, transaction: Transaction, rows: DataFrame) -> None:
        query, storage = self.compiled.query, self.compiled.storage
        labels = query.labels if query is not None else rows.columns
        add_view(transaction, self.table, labels, storage.visible_label if storage else None)


def replace_content(transaction: Transaction, stored: Table, full: DataFrame) -> tuple[int, int]:
    """Stage the difference between the stored rows and these; (added, removed)."""
    if transaction.most_rows(stored) == 0:
        return applying.fill(transaction, stored, full), 0
    names = [quote_spark(c.name) for c in stored.columns]
    both = full.select(*names, F.lit(1).cast("bigint").alias(WEIGHT)).unionAll(
        transaction.rows(stored).select(*names, F.lit(-1).cast("bigint").alias(WEIGHT))
    )
    return applying.apply(transaction, stored, consolidate(both), None, LARGE)
