"""Metrics for Prometheus and spans for OpenTelemetry: made from the registry and from events."""
