"""The state an aggregate keeps per group so that changes can be merged into it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sqlglot import exp

from trickle.plan import WEIGHT, cast, col, is_null, negate, null, number, when


class Merge(Enum):
    """How the stored value and the contributions of changed rows become the new value."""

    SUM = "sum"
    """Adds what came, subtracts what went."""
    XOR = "xor"
    """A value that came and one that went do the same."""
    MIN = "min"
    MAX = "max"
    AND = "and"
    OR = "or"


_FUNCTIONS: dict[Merge, type[exp.AggFunc]] = {
    Merge.SUM: exp.Sum,
    Merge.XOR: exp.BitwiseXorAgg,
    Merge.MIN: exp.Min,
    Merge.MAX: exp.Max,
    Merge.AND: exp.BitwiseAndAgg,
    Merge.OR: exp.BitwiseOrAgg,
}
_OPERATORS: dict[Merge, type[exp.Binary]] = {
    Merge.SUM: exp.Add,
    Merge.XOR: exp.BitwiseXor,
    Merge.AND: exp.BitwiseAnd,
    Merge.OR: exp.BitwiseOr,
}


@dataclass(frozen=True)
class Cell:
    """One number (or extremum) per group.

    A cell that only grows (MIN, MAX, AND, OR) cannot take back a value: beside the new value the merge learns
    `went`, the extreme value that left, and the group is rescanned when that may have been the stored one.
    """

    name: str
    of_row: exp.Expr
    """What one input row contributes; NULL contributes nothing."""
    merge: Merge = Merge.SUM
    type: str | None = None
    settled: exp.Expr | None = None
    """The value to store, over merged cells, where it is not simply the merged one."""
    wide: str | None = None
    """The type in which a value is taken back: the least whole number of a type has no negative in it."""

    @property
    def only_grows(self) -> bool:
        return self.merge not in (Merge.SUM, Merge.XOR)

    @property
    def went(self) -> str:
        return f"{self.name}__went"

    def full(self) -> exp.Expr:
        """The cell computed from all rows of the group."""
        total = _FUNCTIONS[self.merge](this=self.of_row.copy())
        return exp.Coalesce(this=total, expressions=[number(0)]) if self.counts else total

    @property
    def counts(self) -> bool:
        """A count is 0 of nothing, where a sum is NULL."""
        return self.type == "BIGINT" and self.merge is Merge.SUM and self.settled is None

    def merged(self) -> exp.Expr:
        """The new value from stored and changed contributions, both in the column `name`."""
        return _FUNCTIONS[self.merge](this=col(self.name))

    def added(self, stored: exp.Expr) -> exp.Expr:
        """The same from one stored value and the contributions already merged, by arithmetic."""
        new = col(self.name)
        match self.merge:
            case Merge.MIN:
                return exp.Least(this=new, expressions=[stored.copy()], ignore_nulls=True)
            case Merge.MAX:
                return exp.Greatest(this=new, expressions=[stored.copy()], ignore_nulls=True)
        both = _OPERATORS[self.merge](this=new, expression=stored.copy())
        return exp.Coalesce(this=both, expressions=[new.copy(), stored.copy()])

    def signed(self) -> exp.Expr:
        """What a changed row contributes, for cells that can take back."""
        if self.merge is Merge.XOR:
            return self.of_row.copy()
        value = self.of_row.copy() if self.wide is None else cast(self.of_row, self.wide)
        return when(came(), value, exp.Neg(this=exp.Paren(this=value.copy())))

    def value(self) -> exp.Expr:
        return self.settled.copy() if self.settled is not None else col(self.name)


def came() -> exp.Expr:
    return exp.GT(this=col(WEIGHT), expression=number(0))


def left() -> exp.Expr:
    return exp.LT(this=col(WEIGHT), expression=number(0))


def counting(name: str, condition: exp.Expr | None = None) -> Cell:
    """How many rows satisfy the condition."""
    one = number(1) if condition is None else when(condition, number(1), number(0))
    return Cell(name, one, type="BIGINT")


def present(expression: exp.Expr) -> exp.Expr:
    return negate(is_null(expression))


def unless_none(count: str, value: exp.Expr) -> exp.Expr:
    """The value, NULL when nothing was counted."""
    return when(exp.GT(this=col(count), expression=number(0)), value, null())
