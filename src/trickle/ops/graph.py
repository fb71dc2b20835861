"""What reads what in a lake, and which columns come from which."""

from __future__ import annotations

from dataclasses import dataclass

from ..dag import STREAM, VIEW, Graph
from ..dag.pictures import PICTURES
from ..errors import ConfigError
from ..lake.lake import MAIN, missing
from ..lake.model import Snapshot, Table
from ..plan.lineage import lineage
from ..records import Record, Records
from ..refresh.sources import STORED_SCHEMA
from ..registry.models import StreamTable
from ..sql.references import references
from ..sql.statement import Name
from .streams import Streams


@dataclass(frozen=True)
class TreeRecord(Record):
    depth: int
    name: str
    kind: str
    read_by: str | None
    """Who reads it, on this path."""


@dataclass(frozen=True)
class ColumnOrigin(Record):
    column: str
    source: str
    source_column: str


def lake_graph(streams: Streams) -> Graph:
    """Tables, views and stream tables: everything that a stream table stands on, and the stream tables."""
    tables = streams.all()
    labels = {(t.schema.casefold(), t.name.casefold()): t.label for t in tables}
    found = Graph()
    head = streams.lake.head()
    for table in tables:
        found = _with_table(streams, found, table, labels, head)
    return found


def _with_table(
    streams: Streams, found: Graph, table: StreamTable, labels: dict[tuple[str, str], str], head: Snapshot
) -> Graph:
    compiled = streams.refresher.compiled(table, head)
    views = {label: text for label, text in compiled.views.items() if _key(label) not in labels}
    for label, text in views.items():
        found = found.put(_label(label), VIEW, _read(text, labels))
    return found.put(table.label, STREAM, _read(compiled.text, labels))


def _read(text: str, labels: dict[tuple[str, str], str]) -> list[str]:
    """What a query names, stream tables by their labels."""
    names = [r.name for r in references(text) if r.function is None]
    return [labels.get(((n.schema or MAIN).casefold(), n.name.casefold()), _label(n.label)) for n in names]


def _key(label: str) -> tuple[str, str]:
    schema, _, name = label.rpartition(".")
    return (schema or MAIN).casefold(), name.casefold()


def _label(label: str) -> str:
    return label.removeprefix(f"{MAIN}.")


def graph(streams: Streams, format: str = "text") -> str:
    if format not in PICTURES:
        raise ConfigError(f"a graph cannot be drawn as {format!r}", hint=f"it must be one of {', '.join(PICTURES)}.")
    return PICTURES[format](lake_graph(streams))


def dependency_tree(streams: Streams, name: Name) -> Records[TreeRecord]:
    """The table or view and all that it reads, depth first."""
    whole = lake_graph(streams)
    wanted = _label(name.label)
    found = next((n for n in whole.kinds if n.casefold() == wanted.casefold()), None)
    if found is None:
        raise missing("stream table", name.label, list(whole.kinds))
    rows: list[TreeRecord] = []

    def visit(node: str, depth: int, reader: str | None) -> None:
        rows.append(TreeRecord(depth, node, whole.kinds[node], reader))
        for source in whole.sources.get(node, ()):
            visit(source, depth + 1, node)

    visit(found, 0, None)
    return Records(rows)


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
        ColumnOrigin(label, _source(compiled.tables[source], labels), column)
        for label, plan_name in pairs
        for source, column in sorted(origins[plan_name])
    )


def _source(table: Table, labels: dict[str, str]) -> str:
    return (
        labels.get(table.name, table.name) if table.schema == STORED_SCHEMA else _label(f"{table.schema}.{table.name}")
    )
