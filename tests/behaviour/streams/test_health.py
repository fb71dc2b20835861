"""Whether a lake is well, and what was done to it, in numbers."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from trickle.errors import TrickleError
from trickle.events import Suspended
from trickle.metrics.catalogue import METRICS
from trickle.metrics.exporter import Exporter
from trickle.testing.streams.stage import Stage

pytestmark = pytest.mark.spark

PER_CUSTOMER = "SELECT cust, count(*) AS n FROM orders GROUP BY cust"
WHOLE = "SELECT CAST(region AS INT) AS number FROM customers WHERE id > 2"


def samples(text: str) -> dict[tuple[str, ...], float]:
    """Each line by its name and the values of its labels, these in the order of their names."""
    families = text_string_to_metric_families(text)
    return {(s.name, *s.labels.values()): s.value for family in families for s in family.samples}


def test_a_lake_is_well_until_it_is_not(shop: Stage) -> None:
    assert shop.db.quick_health().status == "ok"
    shop.stream("per", PER_CUSTOMER, fuse="on", fuse_ceiling=2, target_lag="1h")
    shop.stream("whole", WHOLE)
    assert [c.check for c in shop.db.health_check() if c.status != "ok"] == ["scheduler"]
    shop.change("INSERT INTO orders VALUES (4, 2, 1), (5, 3, 1), (6, 3, 1)")
    assert shop.db.quick_health().behind == 1
    assert shop.db.change_stats("orders")[0].waiting_rows == 3
    assert shop.db.refresh_stream_table("per").reason == "fuse_blown"
    shop.change("INSERT INTO customers VALUES (3, 'none')")
    with pytest.raises(TrickleError):
        shop.db.refresh_stream_table("whole")
    found = {c.check: c for c in shop.db.health_check() if c.status != "ok"}
    assert found.keys() == {"scheduler", "errors", "fuses"}
    assert (found["fuses"].detail, found["fuses"].status) == ("per", "critical")
    assert found["errors"].detail.startswith("whole: query_error")
    assert all(check.remedy for check in found.values())
    health = shop.db.quick_health()
    assert (health.status, health.held, health.failing, health.fuses_blown) == ("critical", 1, 1, 1)
    [through_sql] = shop.db.sql("SELECT * FROM trickle.quick_health()").collect()
    assert through_sql["failing"] == 1

    per, whole = shop.db.refresh_metrics()
    assert (per.refreshes, per.full, per.skipped, per.errors) == (2, 1, 1, 0)
    assert (whole.refreshes, whole.errors, whole.skipped) == (2, 1, 0)
    everything = shop.db.metrics_summary()
    assert (everything.stream_tables, everything.refreshes, everything.errors) == (2, 4, 1)
    assert everything.rows_inserted == 2 and everything.slowest_ms is not None

    found_metrics = samples(shop.db.metrics())
    assert found_metrics["trickle_fuse_blown", "per"] == 1
    assert found_metrics["trickle_refresh_errors_total", "query_error", "whole"] == 1
    assert found_metrics["trickle_refreshes_total", "FULL", "per", "initial_load"] == 1
    assert found_metrics["trickle_state", "whole", "failing"] == 1
    assert found_metrics["trickle_rows_inserted_total", "per"] == 2
    assert found_metrics["trickle_target_lag_seconds", "per"] == 3600
    assert {name for name, *_ in found_metrics} <= {series for m in METRICS for series in m.series}


def test_an_exporter_counts_from_its_start_and_every_metric_has_a_line(shop: Stage) -> None:
    shop.stream("per", PER_CUSTOMER, fuse="on", fuse_ceiling=2, target_lag="1h")
    exporter = Exporter(shop.db._streams, workers=lambda: (1, 4))
    exporter(Suspended("per", "a reason"))
    assert ("trickle_rows_inserted_total", "per") not in samples(exporter.text().decode())
    shop.change("INSERT INTO orders VALUES (4, 2, 1)")
    shop.refresh("per")
    for _ in range(2):
        found = samples(exporter.text().decode())
        assert found["trickle_rows_inserted_total", "per"] == 1, "counted once, however often it is asked for"
    assert found["trickle_refresh_duration_seconds_count", "DIFFERENTIAL", "per"] == 1
    assert (found["trickle_workers", "busy"], found["trickle_workers", "idle"]) == (1, 3)
    assert found["trickle_events_total", "suspended"] == 1
    assert found["trickle_catalog_statement_seconds_count",] > 5
    never = {"trickle_held", "trickle_refresh_errors_total"}
    assert {m.name for m in METRICS} - {name.removesuffix("_count") for name, *_ in found} == never
    exporter.close()
    before = samples(exporter.text().decode())["trickle_catalog_statement_seconds_count",]
    assert samples(exporter.text().decode())["trickle_catalog_statement_seconds_count",] == before
