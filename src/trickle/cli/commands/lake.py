"""`trickle init`: a lake is made."""

from __future__ import annotations

import json as jsons
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ...errors import AlreadyExists
from ...project import PROJECT_FILE, STREAMS
from ...records import Record
from ..options import Json, Options, options

WithProject = Annotated[
    bool, typer.Option("--project", help="Also write a trickle.toml that names it, and a folder for definitions.")
]
TEMPLATE = """\
lake = {lake}
streams = "streams"   # the folder that `trickle apply` reads

[settings]
# "scheduler.default_schedule" = "1s"
"""


@dataclass(frozen=True)
class LakeRecord(Record):
    catalog: str
    data_path: str
    created: bool
    snapshot: int


def init(ctx: typer.Context, project: WithProject = False, json: Json = False) -> None:
    """Create the lake, or say that it is there already."""
    from ...lake.location import lake_exists

    given = options(ctx, json)
    if project:
        start_project(given)
    is_there = lake_exists(given.location, given.chosen())
    with given.open(create=True) as db:
        lake = db.lake
        fact = LakeRecord(lake.catalog.label, lake.storage.root, not is_there, db.head())
    verb = "opened the lake that is there" if is_there else "created a lake"
    given.output.fact(fact, f"{verb}: catalog {fact.catalog}, files in {fact.data_path}, snapshot {fact.snapshot}")


def start_project(given: Options) -> None:
    """A `trickle.toml` here; one that is there stays as it is."""
    file = Path(PROJECT_FILE)
    if file.exists():
        raise AlreadyExists(f"there is a {file} already", hint="edit it, or leave --project out.")
    file.write_text(TEMPLATE.format(lake=jsons.dumps(given.location)), encoding="utf-8")
    Path(STREAMS).mkdir(exist_ok=True)
    given.output.say(f"wrote {file}, made folder {STREAMS}")
