"""Events to whoever listens on the PostgreSQL that holds the catalog."""

from __future__ import annotations

from sqlalchemy import text

from ..events import Event, Subscriber, to_json
from ..lake.catalog import Catalog

LONGEST = 7900
"""PostgreSQL takes payloads below 8,000 bytes."""


def notify_through(catalog: Catalog, channel: str) -> Subscriber:
    """Sends each event as JSON with NOTIFY."""

    def send(event: Event) -> None:
        payload = to_json(event).encode()[:LONGEST].decode(errors="ignore")
        with catalog.engine.begin() as connection:
            connection.execute(text("SELECT pg_notify(:channel, :payload)"), {"channel": channel, "payload": payload})

    return send
