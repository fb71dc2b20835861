"""A plan whose states are looked up by the keys of its change.

A state joined by equality to a change, or to a state that is looked up itself, gets a relation of its own:
ΔR ⋈ S ⋈ T reads of S what ΔR names, and of T what those rows of S name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from ..plan import (
    CONTRIBUTIONS,
    KEYS,
    TRUE,
    Aggregate,
    Distinct,
    Filter,
    Generate,
    Item,
    Join,
    Node,
    OuterJoin,
    Project,
    Scan,
    SemiJoin,
    SetOp,
    UnionAll,
    Version,
    Window,
    col,
    conjuncts,
    is_reserved,
    rebuild,
    substitute,
    walk,
)
from ..plan.origins import origins
from ..sql.dialects import SparkSql
from .lookups import Key, Lookup, Read

Among = tuple[tuple[Read, str], ...]
"""Columns of relations."""
Keys = Sequence[Key]
"""What is asked of the rows of a node, by its column names."""
_HANDED = frozenset({CONTRIBUTIONS, KEYS})


def looked_up(plan: Node) -> tuple[Node, dict[str, Lookup]]:
    """The plan with scans renamed that are looked up, and what each new name stands for, keys before their users."""
    seeker = _Seeker()
    return rebuild(plan, seeker.visit), seeker.found


def known_origins(plan: Node, name: str, lookups: Collection[str]) -> Among:
    """The columns that hold every value of a plan's column, if the driver may hold them; else none."""
    found = origins(plan, name) or frozenset()
    if not all(_is_known(o.table, o.version, lookups) for o in found):
        return ()
    return tuple(sorted((((o.table, o.version), o.column) for o in found), key=repr))


def _is_known(table: str, version: Version, lookups: Collection[str]) -> bool:
    return version is Version.CHANGES or table in _HANDED or table in lookups


@dataclass
class _Seeker:
    found: dict[str, Lookup] = field(default_factory=dict)

    def visit(self, node: Node) -> Node:
        """The node with each side looked up by the others."""
        match node:
            case Join():
                return _with(node, self.chained(node.parts, node.on))
            case SemiJoin():
                right = self.narrowed(node.right, self.keys(node.right, node.on, [node.left]))
                left = node.left if node.anti else self.narrowed(node.left, self.keys(node.left, node.on, [right]))
                again = right if left is node.left else self.narrowed(right, self.keys(right, node.on, [left]))
                return _with(node, (left, again))
            case OuterJoin() if not node.full:
                right = self.narrowed(node.right, self.keys(node.right, node.on, [node.left]))
                return _with(node, (node.left, right))
            case _:
                return node

    def chained(self, parts: tuple[Node, ...], on: exp.Expr) -> tuple[Node, ...]:
        """Each part looked up by the others, from the change on, for as long as one more is.

        Filtered ones come first: what they leave over are the keys of the others.
        """
        current = list(parts)
        order = sorted(range(len(parts)), key=lambda n: not _is_filtered(parts[n]))
        while (moved := next((m for n in order if (m := self.moved(current, n, on)) is not None), None)) is not None:
            current = moved
        return tuple(current)

    def moved(self, parts: list[Node], n: int, on: exp.Expr) -> list[Node] | None:
        """The parts with the n-th looked up by the others; None if it cannot be, or is."""
        before, part, behind = parts[:n], parts[n], parts[n + 1 :]
        other = self.narrowed(part, self.keys(part, on, [*before, *behind]))
        return None if other is part else [*before, other, *behind]

    def narrowed(self, node: Node, keys: Keys) -> Node:
        """σ_keys(node), written below: as near to the scans as the keys may go; rows without a key may stay."""
        if not keys:
            return node
        match node:
            case Scan():
                return self.looked_up(node, keys)
            case Filter() if isinstance(node.input, Scan):
                return _with(node, (self.looked_up(node.input, keys, node.condition),))
            case Filter() | Distinct():
                return _with(node, (self.narrowed(node.input, keys),))
            case Generate():
                return _with(node, (self.narrowed(node.input, _of(node.input, keys)),))
            case Project():
                return _with(node, (self.narrowed(node.input, _through(node.items, keys)),))
            case Aggregate():
                return _with(node, (self.narrowed(node.input, _through(node.keys, keys)),))
            case Window():
                kept = [k for k in keys if any(_is_column(e, k.column) for e in node.partition)]
                return _with(node, (self.narrowed(node.input, kept),))
            case UnionAll() | SetOp():
                return _with(node, tuple(self.narrowed(part, keys) for part in node.inputs))
            case SemiJoin():
                return self.visit(_with(node, (self.narrowed(node.left, keys), node.right)))
            case OuterJoin() if not node.full:
                return self.visit(_with(node, (self.narrowed(node.left, _of(node.left, keys)), node.right)))
            case Join():
                return self.visit(_with(node, tuple(self.narrowed(part, _of(part, keys)) for part in node.parts)))
            case _:
                return node

    def looked_up(self, scan: Scan, keys: Keys, where: exp.Expr = TRUE) -> Node:
        """A relation of its own for a state, of which only rows that satisfy the condition count."""
        if _is_known(scan.table, scan.version, self.found) or is_reserved(scan.table):
            return scan
        sources = {f.column.name: f.source for f in scan.fields}
        asked = tuple(replace(k, column=sources[k.column]) for k in keys if k.column in sources)
        text = "" if where == TRUE else _in_terms_of(scan, where)
        lookup = Lookup(scan.table, scan.version, asked, text)
        self.found.setdefault(lookup.name, lookup)
        return replace(scan, table=lookup.name)

    def keys(self, part: Node, on: exp.Expr, others: Sequence[Node]) -> list[Key]:
        """What equalities with others say about columns of the part."""
        return list(self.equated(part, on, others))

    def equated(self, part: Node, on: exp.Expr, others: Sequence[Node]) -> Iterator[Key]:
        for condition in conjuncts(on):
            if not isinstance(condition, exp.EQ | exp.NullSafeEQ):
                continue
            for here, there in ((condition.left, condition.right), (condition.right, condition.left)):
                mine = _column(part, here)
                among = next((a for other in others if (a := self.among(other, there))), ())
                if mine is not None and among:
                    yield Key(mine, among, isinstance(condition, exp.NullSafeEQ))

    def among(self, node: Node, expression: exp.Expr) -> Among:
        name = _column(node, expression)
        return () if name is None else known_origins(node, name, self.found)


def _column(node: Node, expression: exp.Expr) -> str | None:
    """The node's column that the expression is, if it is one."""
    inner = expression.unnest()
    return inner.name if isinstance(inner, exp.Column) and inner.name in node.names else None


def _in_terms_of(scan: Scan, condition: exp.Expr) -> str:
    """A condition on a scan, by the columns of its table."""
    return substitute(condition, {f.column.name: col(f.source) for f in scan.fields}).sql(dialect=SparkSql)


def _is_filtered(node: Node) -> bool:
    return any(isinstance(inner, Filter) for inner in walk(node))


def _is_column(expression: exp.Expr, name: str) -> bool:
    inner = expression.unnest()
    return isinstance(inner, exp.Column) and inner.name == name


def _of(node: Node, keys: Keys) -> list[Key]:
    """The keys that ask about columns of the node."""
    return [key for key in keys if key.column in node.names]


def _through(items: Sequence[Item], keys: Keys) -> list[Key]:
    """The keys asked about what the items are computed from, where they pass it on."""
    inner = {i.name: i.expression.unnest() for i in items}
    return [replace(k, column=e.name) for k in keys if isinstance(e := inner.get(k.column), exp.Column)]


def _with(node: Node, inputs: tuple[Node, ...]) -> Node:
    """The node over these inputs: the very same if they are."""
    return node if all(a is b for a, b in zip(inputs, node.inputs, strict=True)) else node.with_inputs(*inputs)
