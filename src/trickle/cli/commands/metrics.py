"""`trickle metrics`: what Prometheus would read, once; and the files that go with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import typer

from ...records import Record
from ..answers import show_facts
from ..options import Json, options

Rules = Annotated[bool, typer.Option("--alerts", help="Print the alert rules for Prometheus instead.")]
Board = Annotated[bool, typer.Option("--dashboard", help="Print the dashboard for Grafana instead.")]


@dataclass(frozen=True)
class Sample(Record):
    name: str
    labels: dict[str, str]
    value: float


def metrics(ctx: typer.Context, alerts: Rules = False, dashboard: Board = False, json: Json = False) -> None:
    """Print every metric in the text format of Prometheus; counters over the history that is kept."""
    from ...metrics import shipped

    if alerts or dashboard:
        typer.echo(shipped.alerts() if alerts else shipped.dashboard(), nl=False)
        return
    given = options(ctx, json)
    with given.open() as db:
        text = db.metrics()
    if given.format == "json":
        show_facts(given, _samples(text), Sample)
    else:
        typer.echo(text, nl=False)


def _samples(text: str) -> Iterator[Sample]:
    from prometheus_client.parser import text_string_to_metric_families

    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            yield Sample(sample.name, dict(sample.labels), sample.value)
