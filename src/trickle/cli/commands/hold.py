"""`trickle gate`, `watermark`, `fuse`, `pause`, `resume`: what holds refreshes back, and lets them go."""

from __future__ import annotations

from typing import Annotated

import typer

from ..answers import show_facts
from ..options import Json, SomeStreamTable, StreamTableName, options

Source = Annotated[str, typer.Argument(help="A table that stream tables read.")]
Sources = Annotated[list[str], typer.Argument(help="The sources, two at least.")]
Time = Annotated[str, typer.Argument(help="Up to when it is complete: 2024-05-01T12:00, UTC where no zone is said.")]
GroupName = Annotated[str, typer.Argument(help="The name of the group.")]
Tolerance = Annotated[str, typer.Option("--tolerance", help="How far the watermarks may lie apart: 30s, 5m.")]
Action = Annotated[str, typer.Option("--action", help="apply, reinitialize or skip_changes.")]

gates = typer.Typer(help="Hold the stream tables that read a source while it is being loaded.", no_args_is_help=True)
marks = typer.Typer(help="Say up to when sources are complete, and which must agree.", no_args_is_help=True)
fuses = typer.Typer(help="Show and mend fuses.", no_args_is_help=True)


@gates.command("close")
def close(ctx: typer.Context, source: Source, json: Json = False) -> None:
    """Hold the stream tables that read the source."""
    from ...ops.gates import GateRecord

    given = options(ctx, json)
    with given.open() as db:
        show_facts(given, [db.gate_source(source)], GateRecord)


@gates.command("open")
def open_gate(ctx: typer.Context, source: Source, json: Json = False) -> None:
    """Let them go on."""
    from ...ops.gates import GateRecord

    given = options(ctx, json)
    with given.open() as db:
        show_facts(given, [db.ungate_source(source)], GateRecord)


@gates.command("list")
def list_gates(ctx: typer.Context, json: Json = False) -> None:
    """List the gates, how long each was closed, and whom it holds."""
    from ...ops.gates import GateStatus

    given = options(ctx, json)
    with given.open() as db:
        show_facts(given, db.bootstrap_gate_status(), GateStatus, "no gates")


@marks.command("advance")
def advance(ctx: typer.Context, source: Source, time: Time, json: Json = False) -> None:
    """Say that the source is complete up to a time; it never goes back."""
    from ...ops.watermarks import WatermarkRecord

    given = options(ctx, json)
    with given.open() as db:
        show_facts(given, [db.advance_watermark(source, time)], WatermarkRecord)


@marks.command("group")
def group(
    ctx: typer.Context, name: GroupName, sources: Sources, tolerance: Tolerance = "0", json: Json = False
) -> None:
    """Stream tables that read two of the sources wait until their watermarks agree."""
    from ...ops.watermarks import WatermarkGroupRecord

    given = options(ctx, json)
    with given.open() as db:
        show_facts(given, [db.create_watermark_group(name, sources, tolerance)], WatermarkGroupRecord)


@marks.command("drop")
def drop(ctx: typer.Context, name: GroupName) -> None:
    """Drop a group: nobody waits for its sources any more."""
    given = options(ctx)
    with given.open() as db:
        db.drop_watermark_group(name)
    given.output.say("done")


@marks.command("status")
def mark_status(ctx: typer.Context, json: Json = False) -> None:
    """Show whether the sources of each group agree."""
    from ...ops.watermarks import WatermarkStatus

    given = options(ctx, json)
    with given.open() as db:
        show_facts(given, db.watermark_status(), WatermarkStatus, "no watermark groups")


@marks.command("list")
def list_marks(ctx: typer.Context, json: Json = False) -> None:
    """List the watermarks."""
    from ...ops.watermarks import WatermarkRecord

    given = options(ctx, json)
    with given.open() as db:
        show_facts(given, db.watermarks(), WatermarkRecord, "no watermarks")


@fuses.command("status")
def fuse_status(ctx: typer.Context, name: SomeStreamTable = None, json: Json = False) -> None:
    """Show which fuses are armed and which are blown."""
    from ...ops.fuse import FuseRecord

    given = options(ctx, json)
    with given.open() as db:
        show_facts(given, db.fuse_status(name), FuseRecord, "no stream tables")


@fuses.command("reset")
def reset(ctx: typer.Context, name: StreamTableName, action: Action = "apply", json: Json = False) -> None:
    """Mend a blown fuse: apply the changes, compute the table anew, or skip the changes for good."""
    from ...ops.fuse import FuseRecord

    given = options(ctx, json)
    with given.open() as db:
        show_facts(given, [db.reset_fuse(name, action)], FuseRecord)


def pause(ctx: typer.Context, name: SomeStreamTable = None) -> None:
    """Keep schedulers from refreshing one stream table, or any."""
    given = options(ctx)
    with given.open() as db:
        db.pause(name)
    given.output.say(f"{name or 'all stream tables'}: paused")


def resume(ctx: typer.Context, name: SomeStreamTable = None) -> None:
    """Let schedulers go on; a stream table that was suspended after errors is tried again."""
    given = options(ctx)
    with given.open() as db:
        db.resume(name)
    given.output.say(f"{name or 'all stream tables'}: resumed")
