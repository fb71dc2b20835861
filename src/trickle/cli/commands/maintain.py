"""`trickle maintain`: the lake kept small and quick."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from ..answers import show_facts
from ..examples import as_epilog
from ..options import DryRun, Json, SomeTable, Table, named, options
from .history import Limit

Threshold = Annotated[
    float | None, typer.Option("--threshold", min=0, max=1, help="Rewrite files with more than this share deleted.")
]
Keys = Annotated[list[str] | None, typer.Option("--by", help="A column to sort by; may be repeated.")]
Keep = Annotated[int | None, typer.Option("--keep", min=1, help="Keep the newest so many.")]
OlderThan = Annotated[
    str | None, typer.Option("--older-than", help="A time (2024-02-29T12:00, UTC) or an age (7d, 12h, 30m).")
]
Snapshots = Annotated[list[int] | None, typer.Option("--snapshot", help="A snapshot by its id; may be repeated.")]
Grace = Annotated[float | None, typer.Option("--grace", min=0, help="Spare files younger than so many seconds.")]

_AGE = re.compile(r"(\d+)([dhms])")
_UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}

app = typer.Typer(
    help="Merge, rewrite and cluster files; expire snapshots; remove what nobody needs.", no_args_is_help=True
)


@app.command(epilog=as_epilog("trickle maintain merge orders"))
def merge(ctx: typer.Context, table: SomeTable = None, json: Json = False) -> None:
    """Merge small neighbouring files; every snapshot and the change feed stay readable."""
    from ...lake.maintenance.merging import Merged

    given = options(ctx, json)
    with given.open() as db:
        show_facts(given, db.merge_files(table), Merged, "no small files to merge")


@app.command(epilog=as_epilog("trickle maintain rewrite --threshold 0.2"))
def rewrite(ctx: typer.Context, table: SomeTable = None, threshold: Threshold = None, json: Json = False) -> None:
    """Rewrite files of which many rows are deleted."""
    from ...lake.maintenance.rewriting import Rewritten

    given = options(ctx, json)
    with given.open() as db:
        show_facts(given, db.rewrite_deletes(table, threshold), Rewritten, "no file has that many deleted rows")


@app.command(epilog=as_epilog("trickle maintain cluster orders --by customer"))
def cluster(ctx: typer.Context, table: Table, by: Keys = None, json: Json = False) -> None:
    """Rewrite a table sorted by its cluster keys, or by the columns named."""
    from ...lake.maintenance.cluster import Clustered

    given = options(ctx, json)
    with given.open() as db:
        show_facts(given, db.cluster(table, by or None), Clustered, "the table is empty")


@app.command(epilog=as_epilog("trickle maintain expire --older-than 7d --dry-run"))
def expire(
    ctx: typer.Context,
    keep: Keep = None,
    older_than: OlderThan = None,
    snapshot: Snapshots = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Forget old snapshots, never the newest nor one that is protected."""
    from ...lake.maintenance.expire import Expired

    given = options(ctx, json)
    before = moment(older_than, datetime.now(UTC)) if older_than else None
    with given.open() as db:
        found = db.expire_snapshots(keep, before, snapshot or None, dry_run)
    show_facts(given, found, Expired, "no snapshot to expire")


@app.command(epilog=as_epilog("trickle maintain clean --dry-run"))
def clean(ctx: typer.Context, grace: Grace = None, dry_run: DryRun = False, json: Json = False) -> None:
    """Remove files that the catalog noted for deletion, after the grace period."""
    from ...lake.maintenance.orphans import Removed

    given = options(ctx, json)
    with given.open() as db:
        show_facts(given, db.clean_files(grace, dry_run), Removed, "no file is due for removal")


@app.command(epilog=as_epilog("trickle maintain orphans --dry-run"))
def orphans(ctx: typer.Context, grace: Grace = None, dry_run: DryRun = False, json: Json = False) -> None:
    """Remove files that no snapshot ever named: what crashed writers left behind."""
    from ...lake.maintenance.orphans import Removed

    given = options(ctx, json)
    with given.open() as db:
        show_facts(given, db.collect_orphans(grace, dry_run), Removed, "no orphans")


@app.command(epilog=as_epilog("trickle maintain history --limit 50"))
def history(ctx: typer.Context, table: SomeTable = None, limit: Limit = 20, json: Json = False) -> None:
    """List what maintenance did by itself between refreshes, and why, the newest first."""
    from ...ops.maintenance_facts import MaintenanceRecord, maintenance_history

    given = options(ctx, json)
    with given.look() as ledger:
        found = maintenance_history(ledger, named(table), limit)
    show_facts(given, found, MaintenanceRecord, "nothing was maintained yet")


def moment(text: str, now: datetime) -> datetime:
    """A time, or an age counted back from now.

    >>> moment("12h", datetime(2024, 3, 1, tzinfo=UTC)).isoformat()
    '2024-02-29T12:00:00+00:00'
    """
    if age := _AGE.fullmatch(text):
        return now - timedelta(**{_UNITS[age[2]]: int(age[1])})
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a time nor an age", param_hint="--older-than") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
