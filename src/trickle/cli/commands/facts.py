"""What there is: tables, columns, snapshots, settings, versions."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import version as installed
from typing import Annotated, Any

import typer

from ...config import SETTINGS
from ...records import Record
from .. import faces
from ..answers import show_facts
from ..options import Json, Table, options
from ..tables import Rows

Schema = Annotated[str | None, typer.Option("--schema", help="Only the tables of this schema.")]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Only the newest so many.")]


@dataclass(frozen=True)
class SettingRecord(Record):
    name: str
    value: Any
    default: Any
    range: str
    meaning: str


@dataclass(frozen=True)
class VersionRecord(Record):
    trickle: str
    python: str
    pyspark: str


def tables(ctx: typer.Context, schema: Schema = None, json: Json = False) -> None:
    """List the tables; for people, without those in which stream tables are stored (--schema trickle)."""
    from ...execute.describe import TableRecord
    from ...refresh.sources import STORED_SCHEMA

    given = options(ctx, json)
    with given.open() as db:
        found: list[TableRecord] = db.tables(schema)
    if given.format == "table" and schema is None:
        found = [t for t in found if t.schema != STORED_SCHEMA]
    show_facts(given, found, TableRecord, "no tables; `trickle import` and `trickle sql` make some", faces.TABLES)


def describe(ctx: typer.Context, name: Table, json: Json = False) -> None:
    """List the columns of a table."""
    from ...execute.describe import ColumnRecord

    given = options(ctx, json)
    with given.open() as db:
        given.output.rows(Rows.of(db.columns(name), ColumnRecord))


def snapshots(ctx: typer.Context, limit: Limit = None, json: Json = False) -> None:
    """List the snapshots that are kept, oldest first."""
    from ...session import SnapshotRecord

    given = options(ctx, json)
    with given.open() as db:
        found = db.snapshots()
    show_facts(given, found[-limit:] if limit else found, SnapshotRecord, face=faces.SNAPSHOTS)


def settings(ctx: typer.Context, json: Json = False) -> None:
    """List every setting with its value here: default, then trickle.toml, then --set."""
    given = options(ctx, json)
    chosen = given.chosen()
    known = [SettingRecord(s.name, _shown(s.name, chosen[s.name]), s.default, s.range, s.meaning) for s in SETTINGS]
    show_facts(given, known, SettingRecord, face=faces.SETTINGS)


def _shown(name: str, value: Any) -> Any:
    """A token is nobody's to read, in whatever face."""
    return "…" if name.endswith("token") and value else value


def version(ctx: typer.Context, json: Json = False) -> None:
    """Say which version this is."""
    fact = VersionRecord(installed("spark-trickle"), platform.python_version(), installed("pyspark"))
    options(ctx, json).output.fact(fact, f"trickle {fact.trickle} (Python {fact.python}, PySpark {fact.pyspark})")
