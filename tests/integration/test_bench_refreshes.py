"""The benchmarks of refreshes run at a small size; what they say of it is pure."""

from __future__ import annotations

import json
import math
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from trickle.cli.bench.tables import duel_table
from trickle.cli.main import app
from trickle.testing.bench import arena, run
from trickle.testing.bench.measure import Timing
from trickle.testing.bench.refreshes import dag, floor, growth, matrix, soak, tpch, write
from trickle.testing.bench.refreshes.duel import Duel, Fighter
from trickle.testing.bench.refreshes.matrix import Cell, crossover
from trickle.testing.bench.refreshes.report import compared, document, read, save
from trickle.testing.bench.refreshes.work import SparkWork
from trickle.testing.tpch.catalogue import QUERIES


def duel(differential: float, spark: float, full: float = 100.0) -> Duel:
    own, rival, whole = (Timing((ms,)) for ms in (differential, spark, full))
    return Duel("d", 10, 1, own, rival, whole, None, {"run": 1.0}, SparkWork())


def test_the_edge_where_recomputing_wins_is_found_between_two_shares() -> None:
    cells = [Cell("join", 1_000_000, share, duel(100, gain * 100)) for share, gain in ((0.01, 3), (0.1, 2), (0.5, 0.5))]
    assert crossover(cells) == pytest.approx(0.1 + 0.4 * 1 / 1.5)
    assert crossover(cells[:2]) == 0.1
    assert crossover(cells[2:]) is None
    assert crossover([cells[2], Cell("join", 1_000_000, 0.9, duel(100, 10))]) == 0.0


def test_auto_is_measured_against_the_better_way() -> None:
    near, far = Cell("scan", 10, 0.1, duel(50, 100), auto_ms=55), Cell("scan", 10, 0.5, duel(400, 100), auto_ms=400)
    assert near.auto_ratio == pytest.approx(1.1)
    assert far.auto_ratio == 4.0
    (verdict,) = [v for v in matrix.verdicts([near, far]) if "AUTO" in v.what]
    assert (verdict.figure, verdict.met) == (0.5, False)


@pytest.mark.parametrize(("is_brief", "kept"), [(True, [90.0]), (False, [70.0])])
def test_in_brief_what_is_far_behind_is_timed_once_and_at_once(
    is_brief: bool, kept: list[float], tmp_path: Path
) -> None:
    fighter = Fighter(None, "d", "", tmp_path, is_brief=is_brief, spent=20.0)
    fighter.keep("full", 90.0, timed=False)
    fighter.keep("spark", 70.0, timed=False)  # not four times as long
    assert fighter.beaten == ({"full"} if is_brief else set())
    if not is_brief:
        fighter.keep("full", 70.0, timed=True)
    assert fighter.times == {"full": kept}


@pytest.mark.parametrize(("is_brief", "kept"), [(True, {"differential": [90.0]}), (False, {})])
def test_in_brief_a_differential_refresh_far_behind_is_the_last(
    is_brief: bool, kept: dict[str, list[float]], tmp_path: Path
) -> None:
    fighter = Fighter(None, "d", "", tmp_path, is_brief=is_brief, spent=90.0)
    fighter.hold_against(30.0)
    assert not fighter.beaten
    for _ in range(2):
        fighter.hold_against(20.0)
    assert fighter.times == kept and len(fighter.phases) == len(kept)
    assert fighter.beaten == set(kept)


def test_in_brief_no_gain_is_judged() -> None:
    cells = [Cell("scan", 1_000_000, share, duel(100, 200), auto_ms=100) for share in (0.001, 0.1)]
    assert len(matrix.verdicts(cells)) == 3
    assert ["AUTO" in v.what for v in matrix.verdicts(cells, brief=True)] == [True]


def test_saved_runs_are_compared(tmp_path: Path) -> None:
    for name, spent in (("before", 100.0), ("after", 150.0)):
        save(document("tpch", {"scale": 1}, [duel(spent, 1000).asdict()], []), tmp_path / name)
    found = compared(read(tmp_path / "before"), read(tmp_path / "after"))
    assert [(c.name, c.ratio) for c in found] == [("d", 1.5), ("geometric mean", pytest.approx(1.5))]
    said = CliRunner().invoke(app, ["bench", "compare", str(tmp_path / "before"), str(tmp_path / "after"), "--json"])
    assert json.loads(said.stdout)[0]["ratio"] == 1.5


def test_saved_soaks_are_compared_by_tenths_of_their_cycles(tmp_path: Path) -> None:
    for name, spent in (("before", 100.0), ("after", 50.0)):
        laps = [soak.Lap(n, spent, 1, 1.0, 1.0).asdict() for n in range(1, 41)]
        save(document("soak", {"cycles": 40}, laps, []), tmp_path / name)
    said = CliRunner().invoke(app, ["bench", "compare", str(tmp_path / "before"), str(tmp_path / "after"), "--json"])
    found = json.loads(said.stdout)
    assert [c["name"] for c in found][:2] == ["cycles 1 – 4", "cycles 5 – 8"]
    assert all(c["ratio"] == pytest.approx(0.5) for c in found)


def test_growth_is_judged_by_its_geometric_mean() -> None:
    grown = [growth.Grown(f"q{n}", Timing((100.0,)), Timing((ms,))) for n, ms in enumerate((100.0, 200.0))]
    (verdict,) = growth.verdicts(grown)
    assert (verdict.figure, verdict.met) == (pytest.approx(math.sqrt(2)), True)


@pytest.mark.heavy
@pytest.mark.spark
def test_the_same_change_is_measured_at_two_scales(spark: SparkSession, tmp_path: Path) -> None:
    plan = tpch.Plan(scale=0.001, orders=6, rounds=1, warmups=0, queries=("q06",))
    (found,) = growth.measure(partial(arena, 1.0, str(tmp_path), spark), plan, 0.002, lambda _: None)
    assert found.name == "q06" and found.ratio > 0


@pytest.mark.heavy
@pytest.mark.spark
def test_orders_are_changed_and_every_refresh_is_differential(spark: SparkSession, tmp_path: Path) -> None:
    plan = tpch.Plan(scale=0.001, orders=6, rounds=1, warmups=0, queries=("q01", "q06"))
    with arena(1.0, str(tmp_path), spark) as place:
        found = tpch.measure(place, plan, lambda _: None)
        stored = place.db.sql("SELECT revenue FROM q06").toArrow().to_pylist()
        anew = place.db.sql(next(q.text for q in QUERIES if q.name == "q06")).toArrow().to_pylist()
    assert stored == anew
    assert [d.name for d in found.duels] == ["q01", "q06"]
    for one in found.duels:
        assert one.gain > 0 and one.work.jobs >= 1
        assert sum(one.phases.values()) == pytest.approx(one.differential.median, rel=0.5)
    assert [v.target for v in found.verdicts()] == [0, 12, 8]


@pytest.mark.spark
def test_cells_of_the_matrix_are_measured(spark: SparkSession, tmp_path: Path) -> None:
    plan = matrix.Plan(rows=(1000,), changes=(0.01,), scenarios=("join-aggregate",), rounds=1, warmups=0, duckdb=True)
    with arena(1.0, str(tmp_path), spark) as place:
        (cell,) = matrix.measure(place, plan, lambda _: None)
    assert cell.duel.changed_rows == 10 and math.isfinite(cell.duel.gain)
    assert cell.floor_ms > 0 and cell.duel.full is not None
    assert cell.duel.duckdb is not None and cell.duel.duckdb.median > 0
    told = duel_table([cell.asdict()], None)
    assert {"floors", "full, ms", "DuckDB, ms", "stages", "MB read", "MB by driver"} <= set(told.columns)


@pytest.mark.heavy
@pytest.mark.spark
@pytest.mark.parametrize("benchmark", [floor, write], ids=lambda module: module.__name__.rpartition(".")[2])
def test_contests_of_refreshes_report_finite_figures(
    benchmark: ModuleType, spark: SparkSession, tmp_path: Path
) -> None:
    with arena(0.01, str(tmp_path), spark) as place:
        results = list(run([benchmark.contests], place, rounds=1))
    assert results and all(math.isfinite(r.figure) and r.figure > 0 for r in results)


@pytest.mark.heavy
@pytest.mark.spark
def test_waves_are_measured_differential_full_and_recomputed(spark: SparkSession, tmp_path: Path) -> None:
    with arena(0.01, str(tmp_path), spark) as place:
        found = dag.measure(place, 1, 0, lambda _: None)
    assert [d.name for d in found] == ["chain of 10", "fan of 20", "diamond"]
    for one in found:
        assert one.full is not None and one.spark.median > 0 and one.work.jobs >= 3
    assert [v.target for v in dag.verdicts(found)] == [2500, 5000, 2500]


@pytest.mark.heavy
@pytest.mark.spark
def test_a_short_soak_keeps_files_few(spark: SparkSession, tmp_path: Path) -> None:
    with arena(0.01, str(tmp_path), spark, soak.SETTINGS) as place:
        laps = soak.measure(place, 60, lambda _: None)
        actions = {line.action for line in place.db.maintenance_history(limit=1000)}
    assert max(lap.files for lap in laps[30:]) < 100
    assert actions >= {"MERGE", "EXPIRE"}
    assert [v.what for v in soak.verdicts(laps)]
