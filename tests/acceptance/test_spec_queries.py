"""The spec files of queries as real stream tables: strict differential, exact after every step by DuckDB's answer."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import trickle
from trickle.testing.effort import Effort
from trickle.testing.lakes import LakeSite
from trickle.testing.specs import Bench, Spec, read_specs, read_story

FOLDER = Path(__file__).parents[1] / "spec" / "queries"
FILES = sorted(FOLDER.glob("[a-z]*.sql"))
STEPS = (1, 5, 5)


@pytest.mark.spark
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_stream_tables_of_the_specs_stay_exact(
    path: Path, lake_sqlite: LakeSite, quick: SparkSession, effort: Effort
) -> None:
    story, specs = read_story(FOLDER / "_setup.sql"), read_specs(path)
    names = {f"st_{n}": spec for n, spec in enumerate(specs)}
    with Bench(story) as judge, lake_sqlite.connect(quick) as db:
        for statement in story.setup:
            db.sql(statement)
        states = {name: judge.states(spec) for name, spec in names.items()}
        for name, spec in names.items():
            create(db, name, spec)
        wrong = [names[n].name for n in names if rows(db, n) != plain(states[n][0])]
        assert wrong == []
        for number, step in enumerate(story.steps[: effort.of(*STEPS)], start=1):
            with db.transaction():
                for statement in step.statements:
                    db.sql(statement)
            actions = {name: db.refresh_stream_table(name).action for name in names}
            assert {names[n].name: a for n, a in actions.items() if a not in ("DIFFERENTIAL", "NO_DATA")} == {}
            wrong = [names[n].name for n in names if rows(db, n) != plain(states[n][number])]
            assert wrong == [], step.name


def create(db: trickle.Session, name: str, spec: Spec) -> None:
    try:
        db.create_stream_table(name, spec.query, refresh_mode="DIFFERENTIAL", dialect=spec.dialect)
    except trickle.TrickleError as error:
        raise AssertionError(f"{spec.id}: {error}") from error


def rows(db: trickle.Session, name: str) -> Counter[tuple[object, ...]]:
    table = db.table(name).toArrow()
    return plain(Counter(zip(*(column.to_pylist() for column in table.columns), strict=True)))


def plain(counted: Counter[tuple[Any, ...]]) -> Counter[tuple[object, ...]]:
    """Whole numbers as they are; of fractions, decimals for one engine and doubles for the other, nine digits."""
    found: Counter[tuple[object, ...]] = Counter()
    for row, count in counted.items():
        found[tuple(_number(v) if isinstance(v, float | Decimal) else v for v in row)] += count
    return found


def _number(value: float | Decimal) -> float:
    return float(f"{float(value):.9g}")
