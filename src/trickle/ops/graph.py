"""What reads what in a lake, by what queries name: nothing is compiled, so a broken source is shown too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..dag import STREAM, VIEW, Graph
from ..dag.pictures import PICTURES
from ..errors import ConfigError
from ..lake import snapshots
from ..lake.definitions import Definitions
from ..lake.model import View
from ..records import Record, Records
from ..sql.names import Name
from ..sql.references import references
from .ledger import MAIN, Ledger

Labels = Mapping[tuple[str, str], str]
"""Stream tables by schema and name, without case."""


@dataclass(frozen=True)
class TreeRecord(Record):
    depth: int
    name: str
    kind: str
    read_by: str | None
    """Who reads it, on this path."""


def lake_graph(ledger: Ledger) -> Graph:
    """Tables, views and stream tables: everything that a stream table stands on, and the stream tables."""
    tables = ledger.all()
    labels = {(t.schema.casefold(), t.name.casefold()): t.label for t in tables}
    views = _views(ledger)
    found = Graph()
    for table in tables:
        found = _with_views(found, views, read := _read(table.query, table.dialect, labels), labels)
        found = found.put(table.label, STREAM, read)
    return found


def _views(ledger: Ledger) -> dict[str, View]:
    """The views by their labels; those that publish a stream table go by its name, and are asked for as such."""
    definitions = Definitions(ledger.catalog, "")
    with ledger.reading() as connection:
        head = snapshots.head(ledger.catalog, connection)
        return {label(f"{v.schema}.{v.name}").casefold(): v for v in definitions.views(connection, head)}


def _with_views(found: Graph, views: Mapping[str, View], names: Iterable[str], labels: Labels) -> Graph:
    for name in names:
        view = views.get(name.casefold())
        if view is None or name in labels.values() or name in found.kinds:
            continue
        read = _read(view.sql, view.dialect, labels)
        found = _with_views(found.put(name, VIEW, read), views, read, labels)
    return found


def _read(text: str, dialect: str, labels: Labels) -> list[str]:
    """What a query names, stream tables by their labels."""
    names = [r.name for r in references(_spark(text, dialect)) if r.function is None]
    return [labels.get(((n.schema or MAIN).casefold(), n.name.casefold()), label(n.label)) for n in names]


def _spark(text: str, dialect: str) -> str:
    if dialect == "spark":
        return text
    from ..sql.dialects import to_spark

    return to_spark(text, dialect)


def label(name: str) -> str:
    return name.removeprefix(f"{MAIN}.")


def graph(ledger: Ledger, format: str = "text") -> str:
    if format not in PICTURES:
        raise ConfigError(f"a graph cannot be drawn as {format!r}", hint=f"it must be one of {', '.join(PICTURES)}.")
    return PICTURES[format](lake_graph(ledger))


def dependency_tree(ledger: Ledger, name: Name) -> Records[TreeRecord]:
    """The table or view and all that it reads, depth first; what was shown before is not unfolded again."""
    whole = lake_graph(ledger)
    wanted = label(name.label)
    found = next((n for n in whole.kinds if n.casefold() == wanted.casefold()), None)
    if found is None:
        from ..lake.lake import missing

        raise missing("stream table", name.label, list(whole.kinds))
    rows: list[TreeRecord] = []
    shown: set[str] = set()

    def visit(node: str, depth: int, reader: str | None) -> None:
        rows.append(TreeRecord(depth, node, whole.kinds[node], reader))
        sources = () if node in shown else whole.sources.get(node, ())
        shown.add(node)
        for source in sources:
            visit(source, depth + 1, node)

    visit(found, 0, None)
    return Records(rows)
