"""Refreshes as OpenTelemetry spans; needs the extra `otel`."""

from __future__ import annotations

from typing import Any

from ..errors import ConfigError
from ..events import Event, RefreshFailed, RefreshFinished

_NANO = 1_000_000_000


class Spans:
    """As a subscriber: every refresh becomes a span that ends when it did."""

    def __init__(self, provider: Any = None) -> None:
        """Given to this tracer provider, or to the global one."""
        try:
            from opentelemetry import trace
        except ImportError:
            raise ConfigError(
                "OpenTelemetry is not installed", hint="pip install 'spark-trickle[otel]', or set events.spans = false."
            ) from None
        self._trace = trace
        self._tracer = trace.get_tracer("trickle", tracer_provider=provider)

    def __call__(self, event: Event) -> None:
        if isinstance(event, RefreshFinished):
            self._span(event, event.duration_ms / 1000)
        elif isinstance(event, RefreshFailed):
            self._span(event, 0.0, f"{event.code}: {event.message}")

    def _span(self, event: Event, seconds: float, error: str = "") -> None:
        end = int(event.at.timestamp() * _NANO)
        facts = {f"trickle.{k}": v for k, v in event.asdict().items() if isinstance(v, str | int | float)}
        span = self._tracer.start_span(f"refresh {event.name}", attributes=facts, start_time=end - int(seconds * _NANO))
        if error:
            span.set_status(self._trace.StatusCode.ERROR, error)
        span.end(end)
