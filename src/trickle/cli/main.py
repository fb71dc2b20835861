"""The command line: global options, the commands, and errors as exit codes."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ..errors import ConfigError, TrickleError
from .commands import (
    advise,
    apply,
    create,
    doctor,
    drop,
    explain,
    facts,
    graph,
    health,
    history,
    hold,
    importing,
    keys,
    lake,
    listing,
    maintain,
    metrics,
    refresh,
    run,
    sql,
    status,
    validate,
    watch,
)
from .completion import setting_names
from .demo.command import demo
from .examples import as_epilog
from .exit_codes import ExitCode, exit_code
from .options import Options, assignments, logs_as_lines, quiet_spark, warnings_as_lines
from .output import output

UsageError: Any = typer.BadParameter.__base__
"""What the command line did not understand; newer versions of Typer have a class of their own for it."""


class ErrorsAsCodes(TyperGroup):
    """An error of Trickle becomes one block on stderr and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except TrickleError as error:
            output(ctx.obj.format if ctx.obj else "table").error(error)
            raise typer.Exit(exit_code(error)) from error
        except UsageError as error:
            if ctx.obj is None or ctx.obj.format != "json":
                raise
            ctx.obj.output.error(ConfigError(error.format_message(), hint="see --help."))
            raise typer.Exit(ExitCode.USAGE) from error


app = typer.Typer(
    name="trickle",
    cls=ErrorsAsCodes,
    help="Tables on Spark that stay fresh and exact, in a lake that other engines read too.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def begin(
    ctx: typer.Context,
    lake: Annotated[
        str | None,
        typer.Option(
            "--lake",
            "-l",
            envvar="TRICKLE_LAKE",
            metavar="PATH|URL",
            help="A directory, or a postgresql:// URL. Default: what trickle.toml names, or the current directory.",
        ),
    ] = None,
    data_path: Annotated[
        str | None, typer.Option(help="Where the files live, if not beside the catalog.", metavar="PATH|URL")
    ] = None,
    set: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting; may be repeated.", autocompletion=setting_names),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, errors too.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show what Spark logs.")] = False,
) -> None:
    """Tables on Spark that stay fresh and exact, in a lake that other engines read too."""
    ctx.obj = Options(lake, data_path, format="json" if json else "table", verbose=verbose)
    ctx.obj.settings = assignments(set or [])
    ctx.with_resource(warnings_as_lines(ctx.obj))
    ctx.with_resource(logs_as_lines(ctx.obj))
    ctx.obj.chosen()  # a wrong setting is told before anything starts
    if not verbose:
        ctx.with_resource(quiet_spark())


BEGIN, TABLES, STREAMS, FRESH, SEEN = (
    "To begin",
    "Tables and rows",
    "Stream tables",
    "Kept fresh",
    "How they stand",
)


def _add(panel: str, name: str, command: Callable[..., None], *examples: str) -> None:
    app.command(name, rich_help_panel=panel, epilog=as_epilog(*examples))(command)


_add(BEGIN, "init", lake.init, "trickle --lake shop init")
_add(BEGIN, "demo", demo, "trickle demo --seconds 30", "trickle demo --tour")
_add(BEGIN, "doctor", doctor.doctor, "trickle doctor")
_add(BEGIN, "settings", facts.settings, "trickle settings")
_add(BEGIN, "version", facts.version, "trickle version")
_add(TABLES, "import", importing.import_files, "trickle import orders.parquet customers.csv")
_add(TABLES, "sql", sql.sql, *sql.EXAMPLES)
_add(TABLES, "tables", facts.tables, "trickle tables")
_add(TABLES, "describe", facts.describe, "trickle describe orders")
_add(TABLES, "check-keys", keys.check_keys, keys.EXAMPLE)
_add(TABLES, "snapshots", facts.snapshots, "trickle snapshots --limit 10")
_add(TABLES, "changes", sql.changes, "trickle changes orders --from 3")
app.add_typer(maintain.app, name="maintain", rich_help_panel=TABLES)
_add(STREAMS, "create", create.create, create.EXAMPLE)
_add(STREAMS, "apply", apply.apply, "trickle apply streams --dry-run", "trickle apply streams --yes --prune")
_add(STREAMS, "validate", validate.validate, validate.EXAMPLE)
_add(STREAMS, "refresh", refresh.refresh, "trickle refresh totals", "trickle refresh --all")
_add(STREAMS, "explain", explain.explain, "trickle explain totals")
_add(STREAMS, "drop", drop.drop, "trickle drop totals --cascade")
_add(FRESH, "run", run.run, "trickle run --until-idle", "trickle run --web")
_add(FRESH, "pause", hold.pause, "trickle pause totals")
_add(FRESH, "resume", hold.resume, "trickle resume totals")
app.add_typer(hold.gates, name="gate", rich_help_panel=FRESH)
app.add_typer(hold.marks, name="watermark", rich_help_panel=FRESH)
app.add_typer(hold.fuses, name="fuse", rich_help_panel=FRESH)
app.add_typer(advise.groups, name="group", rich_help_panel=FRESH)
_add(SEEN, "list", listing.listing, "trickle list")
_add(SEEN, "status", status.status, "trickle status", "trickle status totals --json")
_add(SEEN, "history", history.history, "trickle history totals --limit 5")
_add(SEEN, "graph", graph.graph, "trickle graph --format mermaid")
_add(SEEN, "health", health.health, "trickle health")
_add(SEEN, "diagnose", advise.diagnose, "trickle diagnose totals")
_add(SEEN, "recommend", advise.recommend, "trickle recommend --mode")
_add(SEEN, "metrics", metrics.metrics, "trickle metrics", "trickle metrics --alerts")
_add(SEEN, "watch", watch.watch, "trickle watch")
if importlib.util.find_spec("trickle.cli.bench"):
    app.add_typer(importlib.import_module("trickle.cli.bench").app, name="bench", rich_help_panel=BEGIN)


def main() -> None:
    app(prog_name="trickle")


if __name__ == "__main__":
    main()
