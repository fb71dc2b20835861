"""Which columns come from which."""

from __future__ import annotations

from dataclasses import dataclass

from ..lake.model import Table
from ..plan.lineage import lineage
from ..records import Record, Records
from ..refresh.sources import STORED_SCHEMA
from ..sql.names import Name
from .graph import label
from .streams import Streams


@dataclass(frozen=True)
class ColumnOrigin(Record):
    column: str
    source: str
    source_column: str


def column_lineage(streams: Streams, name: Name) -> Records[ColumnOrigin]:
    """Which columns of its sources the values of each column are made of."""
    table = streams.find(name)
    compiled = streams.refresher.compiled(table, streams.lake.head())
    if compiled.query is None:
        assert compiled.obstacle is not None
        raise compiled.obstacle
    labels = {t.stored_name: t.label for t in streams.all()}
    origins = lineage(compiled.query.plan, compiled.query.recursions)
    pairs = zip(compiled.query.labels, compiled.query.plan.names, strict=True)
    return Records(
        ColumnOrigin(shown, _source(compiled.tables[source], labels), column)
        for shown, plan_name in pairs
        for source, column in sorted(origins[plan_name])
    )


def _source(table: Table, labels: dict[str, str]) -> str:
    return (
        labels.get(table.name, table.name) if table.schema == STORED_SCHEMA else label(f"{table.schema}.{table.name}")
    )
