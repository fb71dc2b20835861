"""`trickle bench`: how fast this is on this machine, against plain Spark on the same machine at the same time."""

from __future__ import annotations

import typer

from ..examples import as_epilog
from . import contests, duels, growth, scale

app = typer.Typer(help="Measure, against plain Spark in the same run.", no_args_is_help=True)


@app.callback()
def bench() -> None:
    """Measure, against plain Spark in the same run."""


app.command(epilog=as_epilog("trickle bench lake --scale 0.1"))(contests.lake)
app.command(epilog=as_epilog("trickle bench floor"))(contests.floor)
app.command(epilog=as_epilog("trickle bench dag"))(duels.dag)
app.command(epilog=as_epilog("trickle bench scale --tables 1000 --files 100000"))(scale.scale)
app.command(epilog=as_epilog("trickle bench write"))(contests.write)
app.command(epilog=as_epilog("trickle bench tpch --scale 0.1 --only q03"))(duels.tpch)
app.command(epilog=as_epilog("trickle bench matrix"))(duels.matrix)
app.command(epilog=as_epilog("trickle bench growth --scale 0.1 --to 1 --only q03"))(growth.growth)
app.command(epilog=as_epilog("trickle bench soak --cycles 100"))(duels.soak)
app.command(epilog=as_epilog("trickle bench compare before.json after.json"))(duels.compare)

__all__ = ["app"]
