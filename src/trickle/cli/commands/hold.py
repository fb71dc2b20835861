"""`trickle gate`, `watermark`, `fuse`, `pause`, `resume`: what holds refreshes back, and lets them go."""

from __future__ import annotations

from typing import Annotated

import typer

from ..answers import show_facts
from ..completion import one_of, table_names
from ..examples import as_epilog
from ..options import Json, SomeStreamTable, StreamTableName, named, options, required

Source = Annotated[str, typer.Argument(help="A table that stream tables read.", autocompletion=table_names)]
Sources = Annotated[list[str], typer.Argument(help="The sources, two at least.", autocompletion=table_names)]
Time = Annotated[str, typer.Argument(help="Up to when it is complete: 2024-05-01T12:00, UTC where no zone is said.")]
GroupName = Annotated[str, typer.Argument(help="The name of the group.")]
Tolerance = Annotated[str, typer.Option("--tolerance", help="How far the watermarks may lie apart: 30s, 5m.")]
Action = Annotated[
    str,
    typer.Option(
        "--action",
        help="apply, reinitialize or skip_changes.",
        autocompletion=one_of("apply", "reinitialize", "skip_changes"),
    ),
]

gates = typer.Typer(help="Hold the stream tables that read a source while it is being loaded.", no_args_is_help=True)
marks = typer.Typer(help="Say up to when sources are complete, and which must agree.", no_args_is_help=True)
fuses = typer.Typer(help="Show and mend fuses.", no_args_is_help=True)


@gates.command("close", epilog=as_epilog("trickle gate close orders"))
def close(ctx: typer.Context, source: Source, json: Json = False) -> None:
    """Hold the stream tables that read the source."""
    from ...ops.gates import GateRecord

    given = options(ctx, json)
    with given.open() as db:
        show_facts(given, [db.gate_source(source)], GateRecord)


@gates.command("open", epilog=as_epilog("trickle gate open orders"))
def open_gate(ctx: typer.Context, source: Source, json: Json = False) -> None:
    """Let them go on."""
    from ...ops.gates import GateRecord

    given = options(ctx, json)
    with given.open() as db:
        show_facts(given, [db.ungate_source(source)], GateRecord)


@gates.command("list", epilog=as_epilog("trickle gate list"))
def list_gates(ctx: typer.Context, json: Json = False) -> None:
    """List the gates, how long each was closed, and whom it holds."""
    from ...ops.gates import GateStatus

    given = options(ctx, json)
    with given.open() as db:
        show_facts(given, db.bootstrap_gate_status(), GateStatus, "no gates")


@marks.command("advance", epilog=as_epilog("trickle watermark advance orders 2024-05-01T12:00"))
def advance(ctx: typer.Context, source: Source, time: Time, json: Json = False) -> None:
    """Say that the source is complete up to a time; it never goes back."""
    from ...ops.watermarks import WatermarkRecord

    given = options(ctx, json)
    with given.open() as db:
        show_facts(given, [db.advance_watermark(source, time)], WatermarkRecord)


@marks.command("group", epilog=as_epilog("trickle watermark group daily orders customers --tolerance 5m"))
def group(
    ctx: typer.Context, name: GroupName, sources: Sources, tolerance: Tolerance = "0", json: Json = False
) -> None:
    """Stream tables that read two of the sources wait until their watermarks agree."""
    from ...ops.watermarks import WatermarkGroupRecord

    given = options(ctx, json)
    with given.open() as db:
        show_facts(given, [db.create_watermark_group(name, sources, tolerance)], WatermarkGroupRecord)


@marks.command("groups", epilog=as_epilog("trickle watermark groups"))
def list_groups(ctx: typer.Context, json: Json = False) -> None:
    """List the groups, with their sources and tolerances."""
    from ...ops.watermarks import WatermarkGroupRecord

    given = options(ctx, json)
    with given.open() as db:
        show_facts(given, db.watermark_groups(), WatermarkGroupRecord, "no watermark groups")


@marks.command("drop", epilog=as_epilog("trickle watermark drop daily"))
def drop(ctx: typer.Context, name: GroupName) -> None:
    """Drop a group: nobody waits for its sources any more."""
    given = options(ctx)
    with given.open() as db:
        db.drop_watermark_group(name)
    given.output.say("done")


@marks.command("status", epilog=as_epilog("trickle watermark status"))
def mark_status(ctx: typer.Context, json: Json = False) -> None:
    """Show whether the sources of each group agree."""
    from ...ops.watermarks import WatermarkStatus

    given = options(ctx, json)
    with given.open() as db:
        show_facts(given, db.watermark_status(), WatermarkStatus, "no watermark groups")


@marks.command("list", epilog=as_epilog("trickle watermark list"))
def list_marks(ctx: typer.Context, json: Json = False) -> None:
    """List the watermarks."""
    from ...ops.watermarks import WatermarkRecord

    given = options(ctx, json)
    with given.open() as db:
        show_facts(given, db.watermarks(), WatermarkRecord, "no watermarks")


@fuses.command("status", epilog=as_epilog("trickle fuse status"))
def fuse_status(ctx: typer.Context, name: SomeStreamTable = None, json: Json = False) -> None:
    """Show which fuses are armed and which are blown."""
    from ...ops import fuse

    given = options(ctx, json)
    with given.look() as ledger:
        show_facts(given, fuse.fuse_status(ledger, named(name)), fuse.FuseRecord, "no stream tables")


@fuses.command("reset", epilog=as_epilog("trickle fuse reset totals --action apply"))
def reset(ctx: typer.Context, name: StreamTableName, action: Action = "apply", json: Json = False) -> None:
    """Mend a blown fuse: apply the changes, compute the table anew, or skip the changes for good."""
    from ...ops import fuse

    given = options(ctx, json)
    with given.look() as ledger:
        show_facts(given, [fuse.reset_fuse(ledger, required(name), action)], fuse.FuseRecord)


def pause(ctx: typer.Context, name: SomeStreamTable = None) -> None:
    """Keep schedulers from refreshing one stream table, or any."""
    from ...ops import control

    given = options(ctx)
    with given.look() as ledger:
        control.hold(ledger, named(name))
    given.output.say(f"{name or 'all stream tables'}: paused")


def resume(ctx: typer.Context, name: SomeStreamTable = None) -> None:
    """Let schedulers go on; a stream table that was suspended after errors is tried again."""
    from ...ops import control

    given = options(ctx)
    with given.look() as ledger:
        control.release(ledger, named(name))
    given.output.say(f"{name or 'all stream tables'}: resumed")
