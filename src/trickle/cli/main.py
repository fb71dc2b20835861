"""The command line: global options, the commands, and errors as exit codes."""

from __future__ import annotations

import atexit
import gc
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ..errors import ConfigError, TrickleError
from .completion import setting_names
from .entries import ENTRIES, Commands
from .exit_codes import ExitCode, exit_code
from .options import Options, assignments, logs_as_lines, quiet_spark, warnings_as_lines
from .output import output

UsageError: Any = typer.BadParameter.__base__
"""What the command line did not understand; newer versions of Typer have a class of their own for it."""


class ErrorsAsCodes(TyperGroup):
    """An error of Trickle becomes one block on stderr and an exit code."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = Commands(ENTRIES)

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)

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


def main() -> None:
    # What is there at the end goes with the process; looking it through for garbage took a tenth of a short command.
    atexit.register(gc.freeze)
    app(prog_name="trickle")


if __name__ == "__main__":
    main()
