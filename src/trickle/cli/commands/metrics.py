"""`trickle metrics`: what Prometheus would read, once; and the files that go with it."""

from __future__ import annotations

from typing import Annotated

import typer

from ..options import options

Rules = Annotated[bool, typer.Option("--alerts", help="Print the alert rules for Prometheus instead.")]
Board = Annotated[bool, typer.Option("--dashboard", help="Print the dashboard for Grafana instead.")]


def metrics(ctx: typer.Context, alerts: Rules = False, dashboard: Board = False) -> None:
    """Print every metric in the text format of Prometheus; counters over the history that is kept."""
    from ...metrics import shipped

    if alerts or dashboard:
        typer.echo(shipped.alerts() if alerts else shipped.dashboard(), nl=False)
        return
    with options(ctx).open() as db:
        typer.echo(db.metrics(), nl=False)
