"""Events to whoever listens on the PostgreSQL that holds the catalog."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from sqlalchemy import text

from ..events import Courier, Event, to_json
from ..lake.catalog import Catalog

LONGEST = 7900
"""PostgreSQL takes payloads below 8,000 bytes."""
CUT = 150
"""So long are texts in an event that would be longer: three of them fit, whatever they are made of."""


class Notify(Courier):
    """Sends each event as JSON with NOTIFY."""

    def __init__(self, catalog: Catalog, channel: str) -> None:
        self.catalog, self.channel = catalog, channel
        super().__init__("channel")

    def deliver(self, event: Event) -> None:
        said = {"channel": self.channel, "payload": payload(event)}
        with self.catalog.engine.begin() as connection:
            connection.execute(text("SELECT pg_notify(:channel, :payload)"), said)


def payload(event: Event) -> str:
    """The event as JSON, with texts cut short where it would be too long.

    >>> from trickle.events import Suspended
    >>> payload(Suspended("revenue", "x" * 10_000)).count("x")
    150
    """
    said = to_json(event)
    if len(said) <= LONGEST:
        return said
    said_of: dict[str, Any] = {f.name: getattr(event, f.name) for f in fields(event)}
    short = {name: text[:CUT] for name, text in said_of.items() if isinstance(text, str)}
    return to_json(replace(event, **said_of | short))
