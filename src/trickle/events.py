"""What happens while stream tables are kept fresh, as typed events; and who is told.

    Event
    ├── RefreshStarted   RefreshFinished   RefreshFailed
    ├── ModeFallback       it was recomputed although it could have been differential
    ├── FuseBlown          a change was larger than the fuse allows
    ├── Suspended          it failed too often in a row
    ├── FallingBehind      a refresh takes longer than its interval
    ├── Stale              it lags further behind than its target_lag
    ├── Held               a gate, a watermark or a suspended member keeps it from being refreshed
    ├── Gated   Ungated    the gate of a source was closed, or opened
    ├── WatermarkStuck     a watermark has been holding it for long
    ├── Maintained         files of its table, or of a source, were merged, rewritten or clustered; snapshots expired
    ├── MaintenanceFailed  that did not work; the refresh before it did
    └── SchedulerStarted   SchedulerStopped

>>> Suspended("revenue", "division by zero").asdict()["kind"]
'suspended'
"""

from __future__ import annotations

import json
import logging
import queue
import re
import threading
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, TextIO

from .errors import ConfigError


@dataclass(frozen=True)
class Event:
    """Base of all events; `name` is the stream table, the source or the scheduler it is about."""

    name: str
    at: datetime = field(default_factory=lambda: datetime.now(UTC), kw_only=True)

    @property
    def kind(self) -> str:
        return re.sub(r"(?<!^)(?=[A-Z])", "_", type(self).__name__).lower()

    def asdict(self) -> dict[str, Any]:
        return {"kind": self.kind, **{f.name: getattr(self, f.name) for f in fields(self)}}

    def __str__(self) -> str:
        said = ", ".join(f"{k}={v}" for k, v in self.asdict().items() if k not in ("kind", "name", "at") and v != "")
        return f"{self.kind} {self.name}: {said}" if said else f"{self.kind} {self.name}"


@dataclass(frozen=True)
class RefreshStarted(Event):
    data_snapshot: int


@dataclass(frozen=True)
class RefreshFinished(Event):
    action: str
    reason: str
    rows_inserted: int
    rows_deleted: int
    duration_ms: float
    data_snapshot: int | None
    snapshot: int | None


@dataclass(frozen=True)
class RefreshFailed(Event):
    code: str
    message: str
    errors_in_row: int
    retry_at: datetime | None


@dataclass(frozen=True)
class ModeFallback(Event):
    action: str
    reason: str


@dataclass(frozen=True)
class FuseBlown(Event):
    changed_rows: int = 0
    ceiling: float | None = None


@dataclass(frozen=True)
class Suspended(Event):
    reason: str


@dataclass(frozen=True)
class FallingBehind(Event):
    duration_seconds: float
    interval_seconds: float
    factor: int


@dataclass(frozen=True)
class Stale(Event):
    lag_seconds: float
    target_lag_seconds: float


@dataclass(frozen=True)
class Held(Event):
    reason: str


@dataclass(frozen=True)
class Gated(Event):
    """Of a source: whoever reads it waits."""


@dataclass(frozen=True)
class Ungated(Event):
    """Of a source: they go on."""


@dataclass(frozen=True)
class WatermarkStuck(Event):
    seconds: float


@dataclass(frozen=True)
class Maintained(Event):
    table: str
    action: str
    files_before: int
    files_after: int
    duration_ms: float
    snapshot: int | None


@dataclass(frozen=True)
class MaintenanceFailed(Event):
    code: str
    message: str


@dataclass(frozen=True)
class SchedulerStarted(Event):
    """From now on tables are kept fresh."""


@dataclass(frozen=True)
class SchedulerStopped(Event):
    """No longer."""


Subscriber = Callable[[Event], None]


class Events:
    """Tells every subscriber; one that fails does not keep the others from hearing."""

    def __init__(self) -> None:
        self._subscribers: list[Subscriber] = []

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """From now on it is told; call what is returned to end that."""
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)

    def tell(self, event: Event) -> None:
        for subscriber in tuple(self._subscribers):
            try:
                subscriber(event)
            except Exception:
                logging.getLogger("trickle.events").exception("a subscriber failed on %s", event.kind)


def to_json(event: Event) -> str:
    """One line of JSON, times in ISO 8601."""
    return json.dumps(event.asdict(), default=lambda v: v.isoformat() if isinstance(v, datetime) else str(v))


def log_to(stream: TextIO, as_json: bool = False) -> Subscriber:
    """Writes each event as a line of text or JSON."""

    def write(event: Event) -> None:
        at = event.at.isoformat(timespec="milliseconds")
        stream.write((to_json(event) if as_json else f"{at} {event}") + "\n")
        stream.flush()

    return write


class Courier(ABC):
    """Delivers events from a thread of its own: a receiver that is slow or hangs slows nothing here."""

    def __init__(self, to: str, timeout: float = 10.0, most: int = 1000) -> None:
        self.to, self.timeout = to, timeout
        self._waiting: queue.Queue[Event | None] = queue.Queue(most)
        self._thread = threading.Thread(target=self._work, name=f"trickle {to}", daemon=True)
        self._thread.start()

    @abstractmethod
    def deliver(self, event: Event) -> None:
        """Whatever it raises is logged, and the next event is delivered."""

    def __call__(self, event: Event) -> None:
        try:
            self._waiting.put_nowait(event)
        except queue.Full:
            logging.getLogger("trickle.events").warning("the %s is too slow: %s was dropped", self.to, event.kind)

    def close(self) -> None:
        """Deliver what waits, and end; what the receiver does not take meanwhile is lost."""
        with suppress(queue.Full):
            self._waiting.put(None, timeout=self.timeout)
        self._thread.join(self.timeout)

    def _work(self) -> None:
        while (event := self._waiting.get()) is not None:
            try:
                self.deliver(event)
            except Exception as error:
                logging.getLogger("trickle.events").warning("the %s did not take %s: %s", self.to, event.kind, error)


class Webhook(Courier):
    """Posts each event as JSON to a URL."""

    def __init__(self, url: str) -> None:
        if not url.startswith(("http://", "https://")):
            raise ConfigError(
                f"{url!r} is not a URL to post to", hint="events.webhook begins with http:// or https://."
            )
        self.url = url
        super().__init__("webhook")

    def deliver(self, event: Event) -> None:
        request = urllib.request.Request(self.url, to_json(event).encode(), {"Content-Type": "application/json"})
        urllib.request.urlopen(request, timeout=self.timeout).close()
