"""The command `python -m trickle.testing.tpch --scale 1 --cycles 8`: TPC-H at any scale, with a table at the end."""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from trickle.testing.duckdb_peer import DuckDBPeer
from trickle.testing.lakes import sqlite_site
from trickle.testing.tpch.catalogue import QUERIES
from trickle.testing.tpch.run import Run


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m trickle.testing.tpch", description=__doc__)
    parser.add_argument("--scale", type=float, default=0.01, help="scale factor (0.01)")
    parser.add_argument("--cycles", type=int, default=8, help="cycles of changes (8)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the changes (1)")
    parser.add_argument("--mode", choices=("DIFFERENTIAL", "IMMEDIATE"), default="DIFFERENTIAL")
    parser.add_argument("--queries", nargs="+", choices=[q.name for q in QUERIES], help="some of them, as q01 q17")
    parser.add_argument("--memory", default="6g", help="heap of Spark (6g)")
    parser.add_argument("--folder", help="where the lake is made (a temporary folder, removed afterwards)")
    return parser.parse_args()


def main() -> int:
    """0 if every answer of every cycle was exact and incremental."""
    given = arguments()
    with tempfile.TemporaryDirectory(prefix="trickle-tpch-", dir=given.folder) as folder, DuckDBPeer() as peer:
        site = sqlite_site(Path(folder) / "lake")
        with site.connect(None, spark__driver_memory=given.memory) as db:
            queries = [q for q in QUERIES if not given.queries or q.name in given.queries]
            run = Run(db, site, peer, given.scale, given.seed, given.mode, queries)
            run.load(Path(folder) / "rows")
            print(f"loaded scale factor {given.scale:g}", flush=True)
            for query in queries:
                print(f"created {query.name} in {run.create(query):.1f} s", flush=True)
            wrong = _said(run.differences())
            for number in range(1, given.cycles + 1):
                found = _said(run.cycle())
                spent = sum(seconds[-1] for seconds in run.seconds.values())
                print(f"cycle {number}: {spent:.1f} s, {len(found)} wrong", flush=True)
                wrong += found
            report(run, wrong)
    return 1 if wrong else 0


def report(run: Run, wrong: list[str]) -> None:
    """A line for each query: seconds of a full refresh and of the median differential one, and whether it was exact."""
    print(f"{'query':8}{'full s':>10}{'differential s':>16}{'changed in':>12}  exact")
    for query in run.queries:
        exact = "no" if any(line.startswith(query.name) for line in wrong) else "yes"
        seconds = statistics.median(run.seconds[query.name])
        print(
            f"{query.name:8}{run.full(query):>10.2f}{seconds:>16.2f}{run.changed[query.name]:>12}  {exact}", flush=True
        )


def _said(lines: list[str]) -> list[str]:
    for line in lines:
        print(line[:2000], file=sys.stderr, flush=True)
    return lines


if __name__ == "__main__":
    sys.exit(main())
