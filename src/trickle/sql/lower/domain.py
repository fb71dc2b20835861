"""What a subquery is computed for: the rows of the query around it, each once, with the columns that it reads.

A correlated subquery of any shape is an ordinary query over its domain. The domain stands first in its FROM clause, and
its columns are carried along: they are grouped by, ranked within, kept apart by DISTINCT and set operations. Joined
back by the carried columns, every row around finds its own answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from trickle.plan import TRUE, Column, Distinct, Item, Join, Node, Project, col, references, renamed, same
from trickle.sql.lower.context import Context, Lowered
from trickle.sql.lower.scope import Relation, Scope, Visible


@dataclass(frozen=True)
class Domain:
    """Rows to compute a subquery for."""

    plan: Node
    scope: Scope
    """The names of the query around, over the domain's columns."""
    origins: tuple[str, ...]
    """The columns of the query around that the domain's columns are copies of."""

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.plan.columns

    def links(self, carried: Iterable[Column]) -> list[exp.Expr]:
        """What joins carried columns back to the rows around: NULL belongs to NULL."""
        return [same(col(mine.name), col(theirs)) for mine, theirs in zip(carried, self.origins, strict=True)]

    def inward(self, expression: exp.Expr) -> exp.Expr:
        """An expression over the rows around, over the domain."""
        return renamed(expression, dict(zip(self.origins, self.plan.names, strict=True)))


@dataclass(frozen=True)
class Answer:
    """A subquery over its domain: what it chooses, and the conditions that tie it to the rows around."""

    plan: Node
    values: Sequence[exp.Expr]
    conditions: list[exp.Expr]
    labels: tuple[str, ...]
    domain: Domain | None = None
    carried: tuple[Column, ...] = ()

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.plan.columns[len(self.carried) :]


def answer(
    query: exp.Expr,
    around: Node,
    scope: Scope,
    context: Context,
    names: Mapping[str, str] | None = None,
    also: Iterable[str] = (),
) -> Answer:
    """The query that may read the rows around it; `names` says what columns of the scope are called by now.

    `also` names columns that the domain shall have in any case.
    """
    now = names or {}
    wanted = {now.get(n, n) for n in _mentioned(query, scope)} & set(around.names)
    if wanted:
        tried = _domain(sorted(wanted), around, scope, context, now)
        read = _reads(query, tried, context)
        wanted = {origin for origin, name in zip(tried.origins, tried.plan.names, strict=True) if name in read}
    wanted |= set(also)
    if not wanted:
        plain = context.lower(query, context.undivided())
        return Answer(plain.plan, [col(n) for n in plain.plan.names], [], plain.labels)
    if context.memory.read_around:
        context.memory.read_around[-1] |= wanted
    domain = _domain(sorted(wanted), around, scope, context, now)
    lowered = context.lower(query, replace(context, domain=domain))
    values = [col(c.name) for c in lowered.plan.columns[len(lowered.carried) :]]
    return Answer(lowered.plan, values, domain.links(lowered.carried), lowered.labels, domain, lowered.carried)


def _mentioned(query: exp.Expr, scope: Scope) -> set[str]:
    """Columns around that a name inside may mean; perhaps too many."""
    found: set[str] = set()
    for column in query.find_all(exp.Column):
        parts = [part.name for part in column.parts]
        place: Scope | None = scope
        while place is not None:
            found |= {name for value in place.find(parts) for name in references(value)}
            place = place.outer
    return found


def _reads(query: exp.Expr, domain: Domain, context: Context) -> set[str]:
    """The columns of the domain that the query really reads: it is lowered once to see."""
    context.memory.read_around.append(set())
    try:
        context.lower(query, replace(context, domain=domain))
    finally:
        read = context.memory.read_around.pop()
    return read


def _domain(origins: list[str], around: Node, scope: Scope, context: Context, now: Mapping[str, str]) -> Domain:
    types = {c.name: c.type for c in around.columns}
    items = tuple(Item(context.fresh(name, types[name]), col(name)) for name in origins)
    inside = {item.expression.name: item.name for item in items}
    by_scope = {old: inside[new] for old, new in now.items() if new in inside}
    return Domain(Distinct(Project(around, items)), _moved(scope, {**inside, **by_scope}), tuple(origins))


def _moved(scope: Scope, names: Mapping[str, str]) -> Scope:
    """The same names over other columns."""

    def move(columns: Iterable[Visible]) -> tuple[Visible, ...]:
        return tuple(Visible(c.label, renamed(c.value, names), c.type) for c in columns)

    relations = [Relation(r.name, move(r.columns), r.hidden) for r in scope.relations]
    outer = _moved(scope.outer, names) if scope.outer is not None else None
    return Scope(relations, outer)


def carried_through(lowered: Lowered, domain: Domain) -> Lowered:
    """A relation that does not read the domain, for each of its rows."""
    return Lowered(Join((domain.plan, lowered.plan), TRUE), lowered.labels, domain.columns)
