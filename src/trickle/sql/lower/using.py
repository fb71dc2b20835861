"""USING and NATURAL: columns of two relations that are made one."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from trickle.plan import coalesce
from trickle.plan.common_types import common_type
from trickle.sql.lower.context import Context
from trickle.sql.lower.refuse import wrong
from trickle.sql.lower.scope import Relation, Scope, Visible

Pair = tuple[Visible, Visible]


def shared(join: exp.Join, left: Scope, right: Scope, context: Context) -> list[Pair]:
    """The pairs of columns that USING or NATURAL makes equal."""
    if join.args.get("using"):
        labels = [identifier.name for identifier in join.args["using"]]
    else:
        theirs = {c.label.casefold() for c in right.star()}
        both = {c.label.casefold(): c.label for c in reversed(left.star()) if c.label.casefold() in theirs}
        labels = [*reversed(both.values())]
    return [(_only(label, left, join, context), _only(label, right, join, context)) for label in labels]


def _only(label: str, scope: Scope, join: exp.Join, context: Context) -> Visible:
    """The side's column of that name; of several Spark takes the first, as in `t, u JOIN v USING (k)`."""
    found = [c for c in scope.star() if c.label.casefold() == label.casefold()]
    if not found or (len(found) > 1 and context.dialect != "spark"):
        raise wrong(f'column "{label}" of USING must stand once on each side', join, context.text)
    return found[0]


def merge(scope: Scope, right: Scope, pairs: Sequence[Pair], side: str) -> None:
    """Bring the right side's relations into sight; shared columns are seen once, before all others."""
    mine, theirs = [a for a, _ in pairs], [b for _, b in pairs]
    shown = [Relation((), tuple(_merged(a, b, side) for a, b in pairs))] if pairs else []
    left = [_without(mine, r) for r in scope.relations]
    scope.relations = [*shown, *left, *(_without(theirs, r) for r in right.relations)]


def _without(columns: Sequence[Visible], relation: Relation) -> Relation:
    labels = {c.label.casefold() for c in columns if c in relation.columns}
    return Relation(relation.name, relation.columns, relation.hidden | labels)


def _merged(left: Visible, right: Visible, side: str) -> Visible:
    if side == "FULL":
        return Visible(left.label, coalesce(left.value, right.value), common_type(left.type, right.type))
    kept = right if side == "RIGHT" else left
    return Visible(left.label, kept.value, kept.type)
