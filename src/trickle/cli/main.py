"""The command line: global options, the commands, and errors as exit codes."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ..errors import TrickleError
from .commands import (
    advise,
    create,
    doctor,
    drop,
    explain,
    facts,
    graph,
    history,
    hold,
    lake,
    listing,
    maintain,
    refresh,
    run,
    sql,
    status,
    validate,
)
from .demo.command import demo
from .exit_codes import exit_code
from .options import EXAMPLE, Options, assignments, quiet_spark
from .output import output


class ErrorsAsCodes(TyperGroup):
    """An error of Trickle becomes one block on stderr and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except TrickleError as error:
            output(ctx.obj.format if ctx.obj else "table").error(error)
            raise typer.Exit(exit_code(error)) from error


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
            help="A directory, or a postgresql:// URL. Default: the current directory.",
        ),
    ] = None,
    data_path: Annotated[
        str | None, typer.Option(help="Where the files live, if not beside the catalog.", metavar="PATH|URL")
    ] = None,
    set: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting; may be repeated.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, errors too.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show what Spark logs.")] = False,
) -> None:
    """Tables on Spark that stay fresh and exact, in a lake that other engines read too."""
    ctx.obj = Options(lake, data_path, format="json" if json else "table")
    ctx.obj.settings = assignments(set or [])
    ctx.obj.chosen()  # a wrong setting is told before anything starts
    if not verbose:
        ctx.with_resource(quiet_spark())


app.command("init")(lake.init)
app.command("demo")(demo)
app.command("sql")(sql.sql)
app.command("tables")(facts.tables)
app.command("describe")(facts.describe)
app.command("snapshots")(facts.snapshots)
app.command("changes")(sql.changes)
app.command("create", epilog=EXAMPLE + create.EXAMPLE)(create.create)
app.command("list", epilog=EXAMPLE + listing.EXAMPLE)(listing.listing)
app.command("status", epilog=EXAMPLE + status.EXAMPLE)(status.status)
app.command("refresh", epilog=EXAMPLE + refresh.EXAMPLE)(refresh.refresh)
app.command("graph", epilog=EXAMPLE + graph.EXAMPLE)(graph.graph)
app.command("pause")(hold.pause)
app.command("resume")(hold.resume)
app.command("diagnose")(advise.diagnose)
app.command("recommend")(advise.recommend)
app.add_typer(advise.groups, name="group")
app.add_typer(hold.gates, name="gate")
app.add_typer(hold.marks, name="watermark")
app.add_typer(hold.fuses, name="fuse")
app.command("run", epilog=EXAMPLE + run.EXAMPLE)(run.run)
app.command("explain", epilog=EXAMPLE + explain.EXAMPLE)(explain.explain)
app.command("history", epilog=EXAMPLE + history.EXAMPLE)(history.history)
app.command("validate", epilog=EXAMPLE + validate.EXAMPLE)(validate.validate)
app.command("drop", epilog=EXAMPLE + drop.EXAMPLE)(drop.drop)
app.add_typer(maintain.app, name="maintain")
app.command("settings")(facts.settings)
app.command("version")(facts.version)
app.command("doctor")(doctor.doctor)
if importlib.util.find_spec("trickle.cli.bench"):
    app.add_typer(importlib.import_module("trickle.cli.bench").app, name="bench")


def main() -> None:
    app(prog_name="trickle")


if __name__ == "__main__":
    main()
