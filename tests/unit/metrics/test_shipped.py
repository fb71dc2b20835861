"""Alerts and dashboard ask for metrics that are exported, with labels that these have."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from trickle.metrics import shipped
from trickle.metrics.catalogue import METRICS

SERIES = {series: metric for metric in METRICS for series in metric.series}


def expressions() -> Iterator[tuple[str, str]]:
    for rule in rules():
        yield rule["alert"], rule["expr"]
    for panel in json.loads(shipped.dashboard())["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]


def rules() -> list[dict[str, Any]]:
    [group] = yaml.safe_load(shipped.alerts())["groups"]
    return list(group["rules"])


def unknown(expression: str) -> list[str]:
    """The series and labels of an expression that nobody exports."""
    found = []
    for series, matchers in re.findall(r"\b(trickle_\w+)(?:\{([^}]*)\})?", expression):
        if series not in SERIES:
            found.append(series)
            continue
        labels = {*SERIES[series].labels, "le"}
        found += [f"{series}.{label}" for label in re.findall(r"(\w+)\s*[=!]~?", matchers) if label not in labels]
    for grouped in re.findall(r"\b(?:by|on) \(([^)]*)\)", expression):
        known = {label for s in re.findall(r"trickle_\w+", expression) for label in SERIES[s].labels} | {"le"}
        found += [label for label in grouped.split(", ") if label not in known]
    return found


@pytest.mark.parametrize(("title", "expression"), list(expressions()), ids=lambda text: text[:30])
def test_an_expression_asks_for_what_is_exported(title: str, expression: str) -> None:
    assert "trickle_" in expression, title
    assert unknown(expression) == []


@pytest.mark.parametrize(
    "wrong", ["trickle_lags", 'trickle_lag_seconds{table="a"}', "sum by (code) (trickle_lag_seconds)"]
)
def test_an_expression_that_asks_for_something_else_is_noticed(wrong: str) -> None:
    assert unknown(wrong)


def test_an_alert_says_how_bad_it_is_and_what_to_do() -> None:
    assert len({rule["alert"] for rule in rules()}) == len(rules()) > 8
    for rule in rules():
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert rule["annotations"]["summary"] and rule["annotations"]["remedy"]


def test_a_lake_that_nobody_tells_of_any_more_is_alerted_of() -> None:
    """Where all series are gone, a comparison of them is neither true nor false: only absent() is."""
    [rule] = [rule for rule in rules() if rule["alert"] == "TrickleNoScheduler"]
    assert "or absent(trickle_schedulers)" in rule["expr"]


def test_the_panels_do_not_overlap() -> None:
    board = json.loads(shipped.dashboard())
    taken = [
        (x, y)
        for place in (panel["gridPos"] for panel in board["panels"])
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(taken) == len(set(taken))
    assert {variable["name"] for variable in board["templating"]["list"]} == {"source", "name"}
