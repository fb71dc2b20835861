"""`trickle init`: a lake is made."""

from __future__ import annotations

from dataclasses import dataclass

import typer

from ...records import Record
from ..options import Json, options


@dataclass(frozen=True)
class LakeRecord(Record):
    catalog: str
    data_path: str
    created: bool
    snapshot: int


def init(ctx: typer.Context, json: Json = False) -> None:
    """Create the lake, or say that it is there already."""
    from ...lake.lake import lake_exists

    given = options(ctx, json)
    is_there = lake_exists(given.location, given.chosen())
    with given.open(create=True) as db:
        lake = db.lake
        fact = LakeRecord(lake.catalog.label, lake.storage.root, not is_there, db.head())
    verb = "opened the lake that is there" if is_there else "created a lake"
    given.output.fact(fact, f"{verb}: catalog {fact.catalog}, files in {fact.data_path}, snapshot {fact.snapshot}")
