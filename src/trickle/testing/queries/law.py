"""What must hold for every case: the plan means the query, and before + delta == after.

Before and after are DuckDB's answers to the text itself, so that a wrong plan cannot agree with itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from trickle.errors import TrickleError
from trickle.plan import weight
from trickle.refresh.compile import MOST_OPERATORS
from trickle.testing.queries.cases import Case
from trickle.testing.specs import Bench, Rows


class Outcome(Enum):
    HOLDS = "holds"
    REFUSED = "refused"
    DEEP = "refused as too deep"
    UNTYPED = "refused without a name"
    MEANING = "the plan means something else"
    DELTA = "before and delta are not after"
    STORED = "what is stored is not the answer"
    CRASHED = "crashed"


@dataclass(frozen=True)
class Verdict:
    case: Case
    outcome: Outcome
    step: int
    detail: str = ""
    changed: bool = False
    """Did the step change the query's answer?"""

    @property
    def is_failure(self) -> bool:
        return self.outcome not in (Outcome.HOLDS, Outcome.REFUSED, Outcome.DEEP)

    def __str__(self) -> str:
        return f"{self.case}\nstep {self.step}: {self.outcome.value}\n{self.detail}"


def judged(bench: Bench, cases: Iterable[Case]) -> Iterator[Verdict]:
    """Each case at one step of the story, as its seed says."""
    steps = len(bench.story.steps)
    for case in cases:
        yield judge_case(bench, case, 1 + case.seed % steps)


def judge_case(bench: Bench, case: Case, step: int) -> Verdict:
    return guarded(case, step, lambda: _judged(bench, case, step))


def guarded(case: Case, step: int, judge: Callable[[], Verdict]) -> Verdict:
    """The verdict; a refusal and a crash are verdicts too."""
    try:
        return judge()
    except TrickleError as refusal:
        outcome = Outcome.REFUSED if _names_construct(refusal) else Outcome.UNTYPED
        return Verdict(case, outcome, step, str(refusal))
    except Exception as crash:
        return Verdict(case, Outcome.CRASHED, step, f"{type(crash).__name__}: {crash}")


def _judged(bench: Bench, case: Case, step: int) -> Verdict:
    change = bench.change(case.spec, bench.unchanged(step))
    if weight(change) > MOST_OPERATORS:
        return Verdict(case, Outcome.DEEP, step)
    sql = bench.delta_sql(case.spec, change)
    before, after = bench.state(case.spec, step - 1), bench.state(case.spec, step)
    meaning = bench.meaning(case.spec, step)
    if meaning != after:
        return Verdict(case, Outcome.MEANING, step, difference(after, meaning))
    delta = bench.delta(sql, step)
    got, expected = before + delta.gained, after + delta.lost
    if got != expected:
        return Verdict(case, Outcome.DELTA, step, difference(expected, got) + f"\n{sql}")
    return Verdict(case, Outcome.HOLDS, step, changed=before != after)


def _names_construct(error: TrickleError) -> bool:
    """A refusal says what it refuses and what to do."""
    return type(error) is not TrickleError and bool(error.message.strip()) and bool(error.hint.strip())


def difference(expected: Rows, got: Rows) -> str:
    """Rows that are missing and rows that are too many."""
    missing, surplus = Counter(expected) - Counter(got), Counter(got) - Counter(expected)
    return f"missing: {dict(missing)}\nsurplus: {dict(surplus)}"
