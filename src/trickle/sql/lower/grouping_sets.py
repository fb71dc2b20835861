"""GROUPING SETS, ROLLUP and CUBE: each row once per set, grouped by the set's number beside the keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from sqlglot import exp

from trickle.plan import (
    Aggregate,
    Column,
    Expand,
    Item,
    Node,
    Project,
    UnionAll,
    cast,
    col,
    keep,
    null,
    number,
)
from trickle.sql.lower.context import Context
from trickle.sql.lower.refuse import unsupported, wrong

KeySet = tuple[exp.Expr, ...]


def has_sets(group: exp.Expr) -> bool:
    return any(isinstance(e, exp.Rollup | exp.Cube | exp.GroupingSets) for e in _elements(group))


def _elements(group: exp.Expr) -> list[exp.Expr]:
    """What GROUP BY lists; in `a, b WITH ROLLUP` and `a, b GROUPING SETS (…)` the list says what the sets are of."""
    listed = list(group.expressions)
    if group.args.get("rollup"):
        return [exp.Rollup(expressions=listed)]
    if group.args.get("cube"):
        return [exp.Cube(expressions=listed)]
    return list(group.args.get("grouping_sets") or listed)


def listed_before_sets(group: exp.Expr) -> list[exp.Expr]:
    """The list of `GROUP BY a, b GROUPING SETS ((b), (a))`: the keys in their order, some perhaps in no set."""
    return list(group.expressions) if group.args.get("grouping_sets") else []


def grouping_sets(group: exp.Expr, context: Context) -> list[KeySet]:
    """Every set of written keys that the GROUP BY clause names.

    >>> import sqlglot
    >>> from trickle.sql.lower.context import Memory
    >>> context = Context({}, {}, "spark", "", Memory(), lower=None)
    >>> group = sqlglot.parse_one("SELECT 1 FROM t GROUP BY a, ROLLUP (b, c)").args["group"]
    >>> [[k.sql() for k in keys] for keys in grouping_sets(group, context)]
    [['a', 'b', 'c'], ['a', 'b'], ['a']]
    """
    elements = _elements(group)
    number = prod(map(_number_of, elements))
    if number > context.most_sets:
        raise unsupported(
            f"more than {context.most_sets} grouping sets",
            group,
            context.text,
            f"There are {number:,}.",
            "group by fewer columns, or raise the setting refresh.grouping_sets.",
        )
    return [tuple(key for part in parts for key in part) for parts in product(*map(_sets_of, elements))]


def _number_of(element: exp.Expr) -> int:
    """How many sets an element stands for, without writing them out."""
    match element:
        case exp.GroupingSets():
            return sum(map(_number_of, element.expressions))
        case exp.Rollup():
            return len(element.expressions) + 1
        case exp.Cube():
            return int(2 ** len(element.expressions))
        case _:
            return 1


def _sets_of(element: exp.Expr) -> list[KeySet]:
    if isinstance(element, exp.GroupingSets):
        return [found for inner in element.expressions for found in _sets_of(inner)]
    if isinstance(element, exp.Rollup):
        units = [_unit(e) for e in element.expressions]
        return [_joined(units[:n]) for n in range(len(units), -1, -1)]
    if isinstance(element, exp.Cube):
        units = [_unit(e) for e in element.expressions]
        choices = product((True, False), repeat=len(units))
        return [_joined([u for u, chosen in zip(units, pick, strict=True) if chosen]) for pick in choices]
    return [_unit(element)]


def _unit(element: exp.Expr) -> KeySet:
    if isinstance(element, exp.Tuple):
        return tuple(element.expressions)
    return (element.this,) if isinstance(element, exp.Paren) else (element,)


def _joined(units: Sequence[KeySet]) -> KeySet:
    return tuple(key for unit in units for key in unit)


@dataclass
class GroupedSets:
    """The sets over bound keys; `keys` are the columns above the aggregate."""

    keys: tuple[Item, ...]
    sets: tuple[frozenset[int], ...]
    """Each set as the numbers of its keys."""
    number: Column

    def grouping(self, node: exp.Expr, context: Context) -> exp.Expr:
        """GROUPING(a) and GROUPING_ID(a, b): one bit per key, 1 where the row does not group by it."""
        wanted = list(node.expressions) or ([node.this] if isinstance(node.this, exp.Expr) else [])
        places = [self._place(k, node, context) for k in wanted] or list(range(len(self.keys)))
        branches = [
            exp.If(this=exp.EQ(this=col(self.number.name), expression=number(n)), true=number(_bits(places, inside)))
            for n, inside in enumerate(self.sets)
        ]
        return cast(exp.Case(ifs=branches), _type_of(node))

    def _place(self, key: exp.Expr, node: exp.Expr, context: Context) -> int:
        for n, item in enumerate(self.keys):
            if item.expression == key:
                return n
        raise wrong("GROUPING of an expression that is no key", node, context.text)

    def aggregate(self, source: Node, calls: tuple[Item, ...]) -> Node:
        """γ per set; the set without keys has its one row even of nothing."""
        numbered = [(n, inside) for n, inside in enumerate(self.sets)]
        keyed = [pair for pair in numbered if pair[1]]
        parts: list[Node] = []
        if keyed:
            expanded = Expand(source, tuple(self._projection(source, n, inside) for n, inside in keyed))
            keys = keep([*(k.column for k in self.keys), self.number])
            parts.append(Aggregate(expanded, keys, calls))
        for n, inside in numbered:
            if not inside:
                total = Aggregate(source, (), calls or (_counted(),))
                parts.append(Project(total, (*self._marks(n, inside), *keep([c.column for c in calls]))))
        return parts[0] if len(parts) == 1 else UnionAll(tuple(parts))

    def _projection(self, source: Node, n: int, inside: frozenset[int]) -> tuple[Item, ...]:
        return (*keep(source.columns), *self._marks(n, inside))

    def _marks(self, n: int, inside: frozenset[int]) -> tuple[Item, ...]:
        keys = tuple(
            k if place in inside else Item(k.column, _absent(k.column.type)) for place, k in enumerate(self.keys)
        )
        return (*keys, Item(self.number, number(n)))


def _type_of(node: exp.Expr) -> str:
    if isinstance(node, exp.GroupingId):
        return "BIGINT"
    return "TINYINT" if len(node.expressions) == 1 else "INT"


def _absent(type: str | None) -> exp.Expr:
    return cast(null(), type) if type else null()


def _counted() -> Item:
    return Item(Column("__rows", "BIGINT"), exp.Count(this=exp.Star(), big_int=True))


def _bits(places: Sequence[int], inside: frozenset[int]) -> int:
    bits = 0
    for place in places:
        bits = bits * 2 + (0 if place in inside else 1)
    return bits
