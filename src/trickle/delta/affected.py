"""Which groups, partitions or rows a change can touch, and the input restricted to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from trickle.plan import (
    Column,
    Distinct,
    Item,
    Node,
    Project,
    SemiJoin,
    all_of,
    col,
    conjuncts,
    equated,
    references,
    same,
    told_apart,
    type_of,
)


def affected(change: Node, keys: Sequence[exp.Expr]) -> Node:
    """G = δ(π_keys(ΔR))"""
    return Distinct(Project(change, _key_items(change, keys)))


def restrict(node: Node, keys: Sequence[exp.Expr], touched: Node) -> Node:
    """R ⋉ G, null-safe: a NULL key is a key like any other."""
    pairs = zip(keys, touched.names, strict=True)
    return SemiJoin(node, touched, all_of(same(key, col(name)) for key, name in pairs))


def narrowed(node: Node, on: exp.Expr, by: Node) -> Node:
    """R ⋉ keys(ΔL), over the equalities of the condition: the rows that rows of L's change can match."""
    pairs = list(_equalities(node, on))
    if not pairs or any(not references(theirs) <= set(by.names) for _, theirs in pairs):
        return node
    return restrict(node, [mine for mine, _ in pairs], affected(by, [theirs for _, theirs in pairs]))


def rivals(node: Node, on: exp.Expr, of: Node, across: Sequence[Column]) -> Node:
    """R ⋉ keys(ΔR): the rows that what rows of R's own change match can match too.

    `across` are the columns of the other side. A row that equals the same value of another type need not have an equal
    key (`'01' = 1 = '1'`): such keys narrow nothing.
    """
    pairs = list(_equalities(node, on))
    keys = [mine for mine, theirs in pairs if _tells_apart(mine, theirs, node.columns, across, on)]
    return restrict(node, keys, affected(of, keys)) if keys else node


def partners(join: SemiJoin, condition: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
    """`(mine, theirs)` of an equality, mine of the right side, if rows with one key equal the same rows of the left."""
    pair = equated(condition, frozenset(join.right.names))
    if pair is None or not references(pair[1]) <= set(join.left.names):
        return None
    return pair if _tells_apart(*pair, join.right.columns, join.left.columns, join.on) else None


def _tells_apart(
    mine: exp.Expr, theirs: exp.Expr, own: Sequence[Column], across: Sequence[Column], on: exp.Expr
) -> bool:
    known = told_apart(type_of(mine, own), type_of(theirs, across))
    return _is_identity(on) if known is None else known


def _is_identity(on: exp.Expr) -> bool:
    """Only null-safe equalities, as rows are compared with copies of themselves."""
    return all(isinstance(c, exp.NullSafeEQ) for c in conjuncts(on))


def _equalities(node: Node, on: exp.Expr) -> Iterator[tuple[exp.Expr, exp.Expr]]:
    names = frozenset(node.names)
    return (pair for c in conjuncts(on) if (pair := equated(c, names)) is not None)


def _key_items(change: Node, keys: Sequence[exp.Expr]) -> tuple[Item, ...]:
    return tuple(
        Item(Column(f"__k{n}", type_of(key, change.columns)), key.copy()) for n, key in enumerate(keys, start=1)
    )
