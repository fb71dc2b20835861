"""Counters and histograms of one process."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric

from .catalogue import BY_NAME, COUNTER, HISTOGRAM, METRICS

BOUNDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)
"""Seconds: the upper ends of the buckets."""
Labels = tuple[str, ...]


@dataclass
class Spread:
    """How often values fell into which bucket.

    >>> found = Spread()
    >>> for seconds in (0.02, 0.3, 9999.0):
    ...     found.add(seconds)
    >>> found.cumulated()[-3:], found.total
    ([('300.0', 2), ('1800.0', 2), ('+Inf', 3)], 9999.32)
    """

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    total: float = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds

    def cumulated(self) -> list[tuple[str, int]]:
        ends = (*map(str, BOUNDS), "+Inf")
        return [(end, sum(self.counts[: n + 1])) for n, end in enumerate(ends)]


class Tally:
    """What was counted, under the names of the catalogue."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counters: dict[tuple[str, Labels], float] = {}
        self._spreads: dict[tuple[str, Labels], Spread] = {}

    def add(self, name: str, *labels: str, by: float = 1) -> None:
        key = self._key(name, labels)
        with self._lock:
            self._counters[key] = self._counters.get(key, 0) + by

    def observe(self, name: str, seconds: float, *labels: str) -> None:
        key = self._key(name, labels)
        with self._lock:
            self._spreads.setdefault(key, Spread()).add(seconds)

    def families(self) -> Iterator[Metric]:
        with self._lock:
            yield from (self._counter(m.name) for m in METRICS if m.kind == COUNTER)
            yield from (self._histogram(m.name) for m in METRICS if m.kind == HISTOGRAM)

    def _counter(self, name: str) -> Metric:
        metric = BY_NAME[name]
        made = CounterMetricFamily(metric.family, metric.meaning, labels=metric.labels)
        for (known, labels), value in self._counters.items():
            if known == name:
                made.add_metric(labels, value)
        return made

    def _histogram(self, name: str) -> Metric:
        metric = BY_NAME[name]
        made = HistogramMetricFamily(metric.family, metric.meaning, labels=metric.labels)
        for (known, labels), spread in self._spreads.items():
            if known == name:
                made.add_metric(labels, buckets=spread.cumulated(), sum_value=spread.total)
        return made

    def _key(self, name: str, labels: Labels) -> tuple[str, Labels]:
        assert len(labels) == len(BY_NAME[name].labels), name
        return name, labels
