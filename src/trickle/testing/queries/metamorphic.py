"""Ways to say or do the same that must not change what comes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random

from trickle.plan import WEIGHT
from trickle.testing.queries.cases import tables
from trickle.testing.queries.compose import compose
from trickle.testing.queries.expressions import value
from trickle.testing.queries.sources import link, relation
from trickle.testing.queries.types import NUMBER, TEXT
from trickle.testing.queries.writer import Writer
from trickle.testing.specs import Bench, Delta, Spec, Step, Story


class LoudBench(Bench):
    """A feed that tells more than it must: every row goes, and every row of the new state comes.

    An update is then a delete and an insert, and what did not change cancels itself.
    """

    def feed(self, table: str, number: int) -> str:
        old, new = f"s{number - 1}.{table}", f"s{number}.{table}"
        return f"SELECT *, 1 AS {WEIGHT} FROM {new} UNION ALL SELECT *, -1 AS {WEIGHT} FROM {old}"


def in_one_batch(story: Story) -> Story:
    """The same statements, refreshed once."""
    every = tuple(statement for step in story.steps for statement in step.statements)
    return Story(story.setup, (Step("everything", every),))


def in_vain(story: Story) -> Story:
    """A step in which nothing happens."""
    return Story(story.setup, (Step("nothing", ()),))


WRAPPERS: dict[str, Callable[[str], str]] = {
    "in a subquery": lambda text: f"SELECT * FROM ({text}) AS wrapped",
    "in a CTE": lambda text: f"WITH wrapped AS ({text}) SELECT * FROM wrapped",
}


def wrapped(spec: Spec, wrapper: Callable[[str], str]) -> Spec:
    return replace(spec, name=f"{spec.name} wrapped", query=wrapper(spec.query), oracle=wrapper(spec.for_duckdb))


def both_orders(seed: int) -> tuple[Spec, Spec]:
    """An inner join, and its sides exchanged."""
    w = Writer(Random(f"join {seed}"), tables(seed), compose, room=2)
    left, right = relation(w, 1)[0], relation(w, 1)[0]
    on = link(w, left.scope, right.scope)
    scope = left.scope + right.scope
    items = f"{value(w, scope, NUMBER)} AS n1, {value(w, scope, TEXT)} AS s1"
    texts = (f"SELECT {items} FROM {a.text} JOIN {b.text} ON {on}" for a, b in ((left, right), (right, left)))
    first, second = (Spec("join", f"{seed} {n}", text) for n, text in enumerate(texts))
    return first, second


def total(deltas: list[Delta]) -> Delta:
    """The net of all changes."""
    net: Counter[tuple[object, ...]] = Counter()
    for delta in deltas:
        net.update(delta.gained)
        net.subtract(delta.lost)
    return Delta(+net, -net)
