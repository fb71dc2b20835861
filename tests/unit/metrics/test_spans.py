"""Refreshes as spans, read back from OpenTelemetry itself."""

from __future__ import annotations

import pytest

from trickle.events import Events, RefreshFailed, RefreshFinished, SchedulerStarted
from trickle.metrics.spans import Spans

sdk = pytest.importorskip("opentelemetry.sdk.trace", reason="no OpenTelemetry (extra otel)")


def test_a_refresh_is_a_span_as_long_as_it_took() -> None:
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    kept = InMemorySpanExporter()
    provider = sdk.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    events = Events()
    events.subscribe(Spans(provider))
    events.tell(SchedulerStarted("a scheduler"))
    events.tell(RefreshFinished("revenue", "DIFFERENTIAL", "", 2, 1, 250.0, 7, 8))
    events.tell(RefreshFailed("revenue", "query_error", "a value does not fit", 1, None))
    done, failed = kept.get_finished_spans()
    assert done.name == "refresh revenue"
    assert (done.end_time - done.start_time) / 1e6 == pytest.approx(250)
    assert done.attributes["trickle.action"] == "DIFFERENTIAL" and done.attributes["trickle.rows_inserted"] == 2
    assert not failed.status.is_ok and "a value does not fit" in failed.status.description
