"""Files for other programs: alert rules for Prometheus, a dashboard for Grafana."""

from __future__ import annotations

from importlib.resources import files


def alerts() -> str:
    """Rules for Prometheus, in YAML."""
    return _text("alerts.yml")


def dashboard() -> str:
    """A dashboard for Grafana, in JSON."""
    return _text("dashboard.json")


def _text(name: str) -> str:
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
