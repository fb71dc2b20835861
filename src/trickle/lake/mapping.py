"""Name mappings: how DuckDB finds the columns of files whose lists and maps carry no field ids."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, insert, select

from .catalog import Catalog
from .model import Column, Table


def needed(columns: Sequence[Column]) -> bool:
    """Spark puts ids on struct fields only; a list element or a map entry has none."""
    return any(inner.type in ("list", "map") for c in columns for inner in c.walk())


def names(catalog: Catalog, connection: Connection, table: Table) -> dict[int, dict[int, str]]:
    """Mapping id → field id → name in the file."""
    m, n = catalog.tables["column_mapping"], catalog.tables["name_mapping"]
    rows = connection.execute(
        select(n.c.mapping_id, n.c.target_field_id, n.c.source_name)
        .join(m, m.c.mapping_id == n.c.mapping_id)
        .where(m.c.table_id == table.id)
    )
    found: dict[int, dict[int, str]] = defaultdict(dict)
    for mapping_id, field_id, name in rows:
        found[mapping_id][field_id] = name
    return found


def entries(columns: Sequence[Column]) -> list[dict[str, Any]]:
    """The rows of `ducklake_name_mapping` for files with exactly these columns."""
    found: list[dict[str, Any]] = []

    def add(column: Column, source: str, parent: int | None) -> None:
        place = len(found)
        found.append(
            {
                "column_id": place,
                "source_name": source,
                "target_field_id": column.id,
                "parent_column": parent,
                "is_partition": False,
            }
        )
        for child in column.children:
            add(child, "list" if column.type == "list" else child.name, place)

    for column in columns:
        add(column, column.name, None)
    return found


def find_or_add(catalog: Catalog, connection: Connection, table: Table, new_id: int) -> int:
    """A mapping that fits the table's columns: one that exists, or a new one under `new_id`."""
    wanted = entries(table.columns)
    n, m = catalog.tables["name_mapping"], catalog.tables["column_mapping"]
    rows = connection.execute(
        select(n).join(m, m.c.mapping_id == n.c.mapping_id).where(m.c.table_id == table.id).order_by(n.c.column_id)
    ).mappings()
    known: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        known[row["mapping_id"]].append({k: row[k] for k in wanted[0]})
    for mapping_id, held in known.items():
        if [{**h, "is_partition": bool(h["is_partition"])} for h in held] == wanted:
            return mapping_id
    connection.execute(insert(m).values(mapping_id=new_id, table_id=table.id, type="map_by_name"))
    connection.execute(insert(n), [{"mapping_id": new_id, **e} for e in wanted])
    return new_id
