"""Which keys sources should be clustered by: those that the stream tables look them up by."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import func, select

from ..errors import TrickleError
from ..execute.ddl import sort_keys
from ..lake.draft import Draft
from ..lake.maintenance.cluster import Clustered, cluster
from ..lake.model import Table
from ..records import Record, Records
from ..refresh.sought import sought
from ..registry.models import StreamTable
from ..sql.names import Name
from .streams import Streams

GROUPS = 4
"""Row groups that a table must fill: in a smaller one there is nothing to leave out."""


@dataclass(frozen=True)
class ClusteringRecommendation(Record):
    table: str
    clustered_by: tuple[str, ...]
    recommended: tuple[str, ...]
    is_clustered: bool
    stream_tables: tuple[str, ...]
    """Those that read less of it then."""
    reason: str


@dataclass(frozen=True)
class Use:
    """One look-up: who, and by which columns at once."""

    stream_table: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Advice:
    columns: tuple[str, ...]
    stream_tables: tuple[str, ...]
    reason: str


def advise(uses: Sequence[Use], order: Sequence[str]) -> Advice:
    """The column by which most stream tables look up, then those that always come with it; `order` breaks ties."""
    readers = _readers(uses)
    first = min(readers, key=lambda c: (-len(readers[c]), _shortest(uses, c), order.index(c)))
    together = [set(use.columns) for use in uses if first in use.columns]
    others = [c for c in order if c != first and all(c in columns for columns in together)]
    names = tuple(sorted(readers[first]))
    return Advice((first, *others), names, _reason(readers))


def _readers(uses: Iterable[Use]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for use in uses:
        for column in use.columns:
            found[column].add(use.stream_table)
    return dict(found)


def _shortest(uses: Iterable[Use], column: str) -> int:
    return min(len(use.columns) for use in uses if column in use.columns)


def _reason(readers: Mapping[str, set[str]]) -> str:
    counts = Counter({column: len(names) for column, names in readers.items()})
    told = ", ".join(f"{many} by {column}" for column, many in counts.most_common())
    return f"stream tables that look it up: {told}"


def recommend_clustering(streams: Streams, name: Name | None = None) -> Records[ClusteringRecommendation]:
    """For each source that refreshes look up by key; of one stream table, or of all."""
    tables = streams.all() if name is None else [streams.find(name)]
    return Records(found for _, found in recommendations(streams, tables))


def recommendations(
    streams: Streams, tables: Iterable[StreamTable]
) -> Iterator[tuple[Table, ClusteringRecommendation]]:
    uses: dict[int, list[Use]] = defaultdict(list)
    read: dict[int, Table] = {}
    for table in tables:
        for source, columns in _sought(streams, table):
            read[source.id] = source
            uses[source.id].append(Use(table.label, columns))
    for id, source in sorted(read.items(), key=lambda item: item[1].label):
        yield source, _recommended(streams, source, advise(uses[id], [c.name for c in source.columns]))


def _sought(streams: Streams, table: StreamTable) -> list[tuple[Table, tuple[str, ...]]]:
    """Nothing of a stream table that no longer fits its sources."""
    try:
        return list(sought(streams.refresher.compiled(table, streams.lake.head())))
    except TrickleError:
        return []


def _recommended(streams: Streams, source: Table, advice: Advice) -> ClusteringRecommendation:
    current = tuple(key.expression.strip('"') for key in source.clustered_by)
    is_clustered = bool(current) and current[0].casefold() == advice.columns[0].casefold()
    small = is_small(streams, source)
    reason = f"{advice.reason}; too small to matter yet" if small else advice.reason
    return ClusteringRecommendation(source.label, current, advice.columns, is_clustered, advice.stream_tables, reason)


def is_small(streams: Streams, table: Table) -> bool:
    stats = streams.catalog.tables["table_stats"].c
    with streams.reading() as connection:
        rows = connection.execute(select(func.max(stats.record_count)).where(stats.table_id == table.id)).scalar()
    return int(rows or 0) < GROUPS * int(streams.lake.settings["lake.row_group_rows"])


def cluster_as_recommended(streams: Streams, table: Table, columns: Sequence[str]) -> Clustered | None:
    """Give a table cluster keys, which later writes keep to, and lay out what it holds by them."""
    draft = Draft(streams.lake.head(), message=f"cluster {table.label}")
    draft.of(table).table = replace(table, clustered_by=sort_keys(table, tuple(columns)))
    streams.lake.commit(draft)
    return next(iter(list(cluster(streams.lake, Name(table.schema, table.name), None))), None)
