"""`trickle doctor`: is this machine ready, and if not, what to do."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Annotated

import typer

from ...errors import TrickleError
from ...records import Record
from ..answers import show_facts
from ..exit_codes import ExitCode
from ..faces import Face
from ..options import Json, Options, options

NoSpark = Annotated[bool, typer.Option("--no-spark", help="Do not start Spark.")]
_LITTLE_DISK = 1 << 30


@dataclass(frozen=True)
class Finding(Record):
    check: str
    ok: bool
    found: str
    fix: str = ""


FACE = Face[Finding](("check", "is", "found", "fix"), lambda f: (f.check, "well" if f.ok else "WRONG", f.found, f.fix))


def doctor(ctx: typer.Context, no_spark: NoSpark = False, json: Json = False) -> None:
    """Check Python, packages, Java, Spark and the lake, with a fix for what is wrong."""
    given = options(ctx, json)
    findings = [*machine(), *_spark(given, no_spark), _project(given), *_lake(given)]
    show_facts(given, findings, Finding, face=FACE)
    if not all(f.ok for f in findings):
        raise typer.Exit(ExitCode.ENVIRONMENT)
    given.output.say("all is well")


def machine() -> Iterator[Finding]:
    yield Finding("Python", True, platform.python_version())
    yield from packages()
    yield _tried("Java", _java)
    yield _disk()


def packages() -> Iterator[Finding]:
    """Each dependency, installed in a version that is supported."""
    from packaging.requirements import Requirement

    for text in requires("spark-trickle") or ():
        wanted = Requirement(text)
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
            continue
        fix = f"pip install '{wanted.name}{wanted.specifier}'"
        try:
            held = version(wanted.name)
        except PackageNotFoundError:
            yield Finding(wanted.name, False, "not installed", fix)
            continue
        fits = wanted.specifier.contains(held, prereleases=True)
        yield Finding(wanted.name, fits, held, "" if fits else fix)


def _java() -> str:
    from ...spark import require_java

    java = require_java()
    return f"{java.version or 'unknown version'} at {java.path}"


def _disk() -> Finding:
    free = shutil.disk_usage(".").free
    is_enough = free > _LITTLE_DISK
    return Finding("disk", is_enough, f"{free >> 20} MB free here", "" if is_enough else "free some space.")


def _spark(given: Options, left_out: bool) -> Iterator[Finding]:
    if left_out:
        return

    def start() -> str:
        from ...spark import start

        session = start(given.chosen())
        session.sql("SELECT 1").toArrow()
        return f"{session.version} on {given.chosen()['spark.master']}"

    yield _tried("Spark", start)


def _project(given: Options) -> Finding:
    """Which file says what lake is meant, if one does."""
    return Finding("trickle.toml", True, str(given.project.path or "none here or above"))


def _lake(given: Options) -> Iterator[Finding]:
    """The lake that is meant; none is needed where nobody names one."""
    from ...lake.location import lake_exists

    is_named = given.lake is not None or given.project.path is not None
    if not (is_named or lake_exists(given.location, given.chosen())):
        yield Finding("lake", True, "none here; `trickle init` and `trickle import` make one")
        return

    def look() -> str:
        with given.open() as db:
            return f"{db.lake.catalog.label}, snapshot {db.head()}, files in {db.lake.storage.root}"

    yield _tried("lake", look)


def _tried(check: str, look: Callable[[], str]) -> Finding:
    try:
        return Finding(check, True, look())
    except TrickleError as error:
        return Finding(check, False, error.message, error.hint)
