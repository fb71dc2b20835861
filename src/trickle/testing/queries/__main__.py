"""The long form: `python -m trickle.testing.queries --count 20000`; the exit code is 0 if nothing was wrong."""

from __future__ import annotations

import argparse
import time
from collections import Counter

from trickle.testing.queries.cases import cases
from trickle.testing.queries.law import Outcome, Verdict, judged
from trickle.testing.specs import Bench


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=20_000, help="how many queries")
    asked = parser.parse_args()
    started, outcomes, refusals, changed, failed = time.monotonic(), Counter[str](), Counter[str](), 0, False
    for story, batch in cases(asked.start, asked.count):
        with Bench(story) as bench:
            for verdict in judged(bench, batch):
                outcomes[verdict.outcome.value] += 1
                changed += verdict.changed
                failed |= verdict.is_failure
                _tell(verdict, refusals)
    seconds = time.monotonic() - started
    print(f"{asked.count} queries in {seconds:.0f} s; {changed} saw their answer change; {dict(outcomes)}")
    for construct, count in refusals.most_common():
        print(f"{count:6} refused: {construct}")
    return int(failed)


def _tell(verdict: Verdict, refusals: Counter[str]) -> None:
    if verdict.is_failure:
        print(verdict, flush=True)
    elif verdict.outcome is Outcome.REFUSED:
        refusals[verdict.detail.split("\n")[0].split(" at line")[0]] += 1


if __name__ == "__main__":
    raise SystemExit(main())
