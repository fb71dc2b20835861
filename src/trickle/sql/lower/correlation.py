"""What ties a subquery to the query around it: equal keys, and what an aggregate is where no row has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from trickle.plan import Column, Item, Node, coalesce, col, number, references, told_apart, type_of
from trickle.sql.lower.functions import function_name
from trickle.sql.lower.refuse import unsupported

_ZERO_OF_NOTHING = (exp.Count, exp.CountIf, exp.ApproxDistinct, exp.RegrCount)

_SKETCHES = (
    "approx_top_k", "bitmap_", "collect_union", "count_min_sketch", "hll_", "kll_", "schema_of_variant", "theta_",
    "tuple_",
)  # fmt: skip


@dataclass(frozen=True)
class Key:
    """`mine = theirs`, or `<=>`: a correlated conjunct whose sides belong to one query each."""

    mine: exp.Expr
    theirs: exp.Expr
    operator: type[exp.Binary]


def equality(condition: exp.Expr, inside: Node, around: Sequence[Column]) -> Key | None:
    """The key that a correlated conjunct is, if it is one.

    Rows of the subquery are grouped by the key: different keys must not equal one value around, as '01' = 1 = '1'.
    """
    bare = condition.unnest()
    if isinstance(bare, exp.EQ | exp.NullSafeEQ):
        names = set(inside.names)
        for mine, theirs in ((bare.left, bare.right), (bare.right, bare.left)):
            if references(mine) <= names and not references(theirs) & names:
                key = Key(mine.unnest(), theirs.unnest(), type(bare))
                return key if tells_apart(key, inside.columns, around) else None
    return None


def tells_apart(key: Key, inside: Sequence[Column], around: Sequence[Column]) -> bool:
    """Whether no two keys equal one value; of unknown types, only where rows are compared with copies of themselves."""
    known = told_apart(type_of(key.mine, inside), type_of(key.theirs, around))
    return key.operator is exp.NullSafeEQ if known is None else known


def of_nothing(item: Item, text: str) -> exp.Expr:
    """An aggregate's column where there may be no group: counts are 0, lists empty, all else NULL.

    A sketch of nothing is neither, and cannot be written out.
    """
    call = item.expression.this if isinstance(item.expression, exp.Filter) else item.expression
    if function_name(call).startswith(_SKETCHES):
        hint = "join a grouped query instead, or set refresh_mode = 'FULL'."
        raise unsupported(f"{function_name(call)}() of a correlated subquery", call, text, hint=hint)
    if isinstance(call, _ZERO_OF_NOTHING):
        return coalesce(col(item.name), number(0))
    if isinstance(call, exp.ArrayAgg | exp.ArrayUniqueAgg):
        return coalesce(col(item.name), exp.Array(expressions=[]))
    return col(item.name)
