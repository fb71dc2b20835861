"""Expressions: sqlglot trees whose columns are bare names of the input; nobody changes one in place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set

from sqlglot import exp

TRUE = exp.true()


def col(name: str) -> exp.Column:
    """A reference to the input column `name`."""
    return exp.Column(this=exp.Identifier(this=name, quoted=True))


def number(value: int) -> exp.Expr:
    return exp.Literal.number(value) if value >= 0 else exp.Neg(this=exp.Literal.number(-value))


def null() -> exp.Expr:
    return exp.Null()


def both(left: exp.Expr, right: exp.Expr, operator: type[exp.Binary]) -> exp.Expr:
    """`(left) operator (right)`, with parentheses where the operands need them."""
    return operator(this=grouped(left), expression=grouped(right))


def grouped(expression: exp.Expr) -> exp.Expr:
    """The expression, in parentheses unless it binds tighter than any operator."""
    plain = (exp.Column, exp.Literal, exp.Paren, exp.Func, exp.Null, exp.Boolean, exp.Neg)
    loose = (exp.Connector,)
    if isinstance(expression, plain) and not isinstance(expression, loose):
        return expression.copy()
    return exp.Paren(this=expression.copy())


def same(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """`left <=> right`: identity, where NULL is the same as NULL."""
    return both(left, right, exp.NullSafeEQ)


def when(condition: exp.Expr, then: exp.Expr, otherwise: exp.Expr | None = None) -> exp.Expr:
    """`CASE WHEN condition THEN then ELSE otherwise END`."""
    branch = exp.If(this=condition.copy(), true=then.copy())
    return exp.Case(ifs=[branch], default=otherwise.copy() if otherwise is not None else None)


def is_null(expression: exp.Expr) -> exp.Expr:
    return exp.Is(this=grouped(expression), expression=exp.Null())


def negate(expression: exp.Expr) -> exp.Expr:
    return exp.Not(this=grouped(expression))


def coalesce(first: exp.Expr, *others: exp.Expr) -> exp.Expr:
    return exp.Coalesce(this=first.copy(), expressions=[other.copy() for other in others])


def cast(expression: exp.Expr, type: str) -> exp.Expr:
    return exp.Cast(this=expression.copy(), to=exp.DataType.build(type, dialect="spark"))


def all_of(conditions: Iterable[exp.Expr]) -> exp.Expr:
    """The conjunction; TRUE of nothing.

    >>> all_of([col("a"), col("b")]).sql("spark")
    '`a` AND `b`'
    """
    parts = [c for c in conditions if c != TRUE]
    return exp.and_(*parts, copy=True) if parts else TRUE.copy()


def any_of(conditions: Iterable[exp.Expr]) -> exp.Expr:
    """The disjunction; FALSE of nothing."""
    parts = list(conditions)
    return exp.or_(*parts, copy=True) if parts else exp.false()


def conjuncts(condition: exp.Expr) -> tuple[exp.Expr, ...]:
    """The parts that AND holds together, none of TRUE; (a ∧ b) ∨ (a ∧ c) is a ∧ (b ∨ c).

    >>> [c.sql() for c in conjuncts(exp.condition("a = 1 AND b OR c AND a = 1"))]
    ['a = 1', 'b OR c']
    """
    inner = condition.unnest()
    if isinstance(inner, exp.And):
        return conjuncts(inner.left) + conjuncts(inner.right)
    if isinstance(inner, exp.Or):
        return _factored(inner)
    return () if inner == TRUE else (inner,)


def _factored(disjunction: exp.Or) -> tuple[exp.Expr, ...]:
    """What all branches ask for, and what is left of them."""
    branches = [conjuncts(branch) for branch in disjunction.flatten()]
    shared = tuple(c for c in branches[0] if all(c in other for other in branches[1:]))
    if not shared:
        return (disjunction,)
    rests = [tuple(c for c in branch if c not in shared) for branch in branches]
    return (*shared, any_of(all_of(rest) for rest in rests)) if all(rests) else shared


def references(expression: exp.Expr) -> frozenset[str]:
    """The names of the input columns it reads.

    >>> sorted(references(exp.Add(this=col("a"), expression=col("b"))))
    ['a', 'b']
    """
    return frozenset(column.name for column in expression.find_all(exp.Column))


def equated(condition: exp.Expr, names: Set[str]) -> tuple[exp.Expr, exp.Expr] | None:
    """`(mine, theirs)` of an equality between an expression over these names and one over others."""
    if not isinstance(condition, exp.EQ | exp.NullSafeEQ):
        return None
    for mine, theirs in ((condition.left, condition.right), (condition.right, condition.left)):
        if references(mine) and references(mine) <= names and references(theirs) and not references(theirs) & names:
            return mine.unnest(), theirs.unnest()
    return None


def substitute(expression: exp.Expr, by: Mapping[str, exp.Expr]) -> exp.Expr:
    """The expression with the columns named in `by` replaced."""

    def swap(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and node.name in by:
            value = by[node.name]
            return grouped(value) if node.parent is not None else value.copy()
        return node

    return transform(expression, swap)


def renamed(expression: exp.Expr, names: Mapping[str, str]) -> exp.Expr:
    return substitute(expression, {old: col(new) for old, new in names.items()})


def transform(expression: exp.Expr, change: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """The expression with `change` applied to every part, from the top, not entering what it replaced."""
    return expression.transform(change)
