"""Targets, and whether they were met: pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, log

from ....records import Record


@dataclass(frozen=True)
class Verdict(Record):
    """A figure against its target.

    >>> Verdict("gain", 9.0, 8.0, at_least=True).met
    True
    """

    what: str
    figure: float
    target: float
    at_least: bool = False

    @property
    def met(self) -> bool:
        return self.figure >= self.target if self.at_least else self.figure <= self.target

    def asdict(self) -> dict[str, object]:
        return {**super().asdict(), "met": self.met}

    def __str__(self) -> str:
        sign = "≥" if self.at_least else "≤"
        return f"{self.what}: {self.figure:.2f} ({sign} {self.target:g}): {'met' if self.met else 'missed'}"


def geometric_mean(values: Iterable[float]) -> float:
    """
    >>> round(geometric_mean([2, 8]), 6)
    4.0
    """
    logs = [log(v) for v in values]
    return exp(sum(logs) / len(logs))
