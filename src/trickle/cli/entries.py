"""Every command: where it is written, and how it is introduced. A command is imported when it is called."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from typing import Any

import typer

from .examples import as_epilog

BEGIN, TABLES, STREAMS, FRESH, SEEN = (
    "To begin",
    "Tables and rows",
    "Stream tables",
    "Kept fresh",
    "How they stand",
)


@dataclass(frozen=True)
class Entry:
    """A command, or a group of commands, by the name of what defines it."""

    panel: str
    name: str
    where: str
    examples: tuple[str, ...] = ()

    def build(self) -> Any:
        """The command as the command line runs it."""
        module, _, name = self.where.partition(":")
        found = getattr(importlib.import_module(f"{__package__}.{module}"), name)
        host = typer.Typer(callback=lambda: None, add_completion=False)
        if isinstance(found, typer.Typer):
            host.add_typer(found, name=self.name, rich_help_panel=self.panel)
        else:
            host.command(self.name, rich_help_panel=self.panel, epilog=as_epilog(*self.examples))(found)
        return typer.main.get_group(host).commands[self.name]


class Commands(MutableMapping[str, Any]):
    """Commands by name, each built when it is first asked for."""

    def __init__(self, entries: list[Entry]) -> None:
        self._entries = {entry.name: entry for entry in entries}
        self._built: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._built:
            self._built[name] = self._entries[name].build()
        return self._built[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._built[name] = command

    def __delitem__(self, name: str) -> None:
        self._built.pop(name, None)
        self._entries.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._entries, *self._built]))

    def __len__(self) -> int:
        return len({*self._entries, *self._built})


def _entry(panel: str, name: str, where: str, *examples: str) -> Entry:
    return Entry(panel, name, f"commands.{where}", examples)


ENTRIES = [
    _entry(BEGIN, "init", "lake:init", "trickle --lake shop init"),
    Entry(BEGIN, "demo", "demo.command:demo", ("trickle demo --seconds 30", "trickle demo --tour")),
    _entry(BEGIN, "doctor", "doctor:doctor", "trickle doctor"),
    _entry(BEGIN, "settings", "facts:settings", "trickle settings"),
    _entry(BEGIN, "version", "facts:version", "trickle version"),
    _entry(TABLES, "import", "importing:import_files", "trickle import orders.parquet customers.csv"),
    _entry(
        TABLES,
        "sql",
        "sql:sql",
        "trickle sql 'SELECT * FROM orders LIMIT 10'",
        "trickle sql 'SELECT * FROM orders' --format csv",
        "echo 'SELECT count(*) AS n FROM orders' | trickle sql --json",
    ),
    _entry(TABLES, "tables", "facts:tables", "trickle tables"),
    _entry(TABLES, "describe", "facts:describe", "trickle describe orders"),
    _entry(TABLES, "check-keys", "keys:check_keys", "trickle check-keys orders"),
    _entry(TABLES, "snapshots", "facts:snapshots", "trickle snapshots --limit 10"),
    _entry(TABLES, "changes", "sql:changes", "trickle changes orders --from 3"),
    _entry(TABLES, "maintain", "maintain:app"),
    _entry(
        STREAMS,
        "create",
        "create:create",
        "trickle create totals 'SELECT customer, sum(amount) AS total FROM orders GROUP BY customer'"
        " --mode DIFFERENTIAL",
    ),
    _entry(STREAMS, "apply", "apply:apply", "trickle apply streams --dry-run", "trickle apply streams --yes --prune"),
    _entry(
        STREAMS,
        "validate",
        "validate:validate",
        "trickle validate 'SELECT customer, max(amount) AS most FROM orders GROUP BY customer'",
    ),
    _entry(STREAMS, "refresh", "refresh:refresh", "trickle refresh totals", "trickle refresh --all"),
    _entry(STREAMS, "explain", "explain:explain", "trickle explain totals"),
    _entry(STREAMS, "drop", "drop:drop", "trickle drop totals --cascade"),
    _entry(FRESH, "run", "run:run", "trickle run --until-idle", "trickle run --web"),
    _entry(FRESH, "pause", "hold:pause", "trickle pause totals"),
    _entry(FRESH, "resume", "hold:resume", "trickle resume totals"),
    _entry(FRESH, "gate", "hold:gates"),
    _entry(FRESH, "watermark", "hold:marks"),
    _entry(FRESH, "fuse", "hold:fuses"),
    _entry(FRESH, "group", "advise:groups"),
    _entry(SEEN, "list", "listing:listing", "trickle list"),
    _entry(SEEN, "status", "status:status", "trickle status", "trickle status totals --json"),
    _entry(SEEN, "history", "history:history", "trickle history totals --limit 5"),
    _entry(SEEN, "graph", "graph:graph", "trickle graph --format mermaid"),
    _entry(SEEN, "health", "health:health", "trickle health"),
    _entry(SEEN, "diagnose", "advise:diagnose", "trickle diagnose totals"),
    _entry(SEEN, "recommend", "advise:recommend", "trickle recommend --mode"),
    _entry(SEEN, "metrics", "metrics:metrics", "trickle metrics", "trickle metrics --alerts"),
    _entry(SEEN, "watch", "watch:watch", "trickle watch"),
]
if importlib.util.find_spec("trickle.cli.bench"):
    ENTRIES.append(Entry(BEGIN, "bench", "bench:app"))
