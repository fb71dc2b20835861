"""What `*` stands for, in a select list and among the arguments of a call."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from trickle.sql.lower.context import Context
from trickle.sql.lower.refuse import unsupported, wrong
from trickle.sql.lower.scope import Scope, Visible


def is_star(node: object) -> bool:
    """`*` or `t.*`"""
    return isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star))


def star_columns(node: exp.Expr, scope: Scope, context: Context) -> list[Visible]:
    """The columns of `*` or `t.*`, without those of EXCEPT."""
    star = node.this if isinstance(node, exp.Column) else node
    left_out = {e.name.casefold() for e in star.args.get("except_") or star.args.get("except") or ()}
    found = scope.star() if star is node else _owned(node, scope, context)
    return [c for c in found if c.label.casefold() not in left_out]


def spread(call: exp.Expr, scope: Scope, context: Context) -> None:
    """Write out the stars among a bound call's arguments: a delta has other columns than the query sees.

    `count(*)` counts rows, whatever their columns.
    """
    if isinstance(call, exp.Count) and isinstance(call.this, exp.Star):
        return
    starts = is_star(call.this)
    given = [*([call.this] if starts else []), *call.expressions]
    if "expressions" not in call.arg_types or any(_replaces(a) for a in given):
        raise unsupported(f"* inside {type(call).__name__.upper()}", call, context.text)
    whole = [a for argument in given for a in _written_out(argument, call, scope, context)]
    if not whole:
        raise wrong("* stands for no column", call, context.text)
    if starts:
        call.set("this", whole.pop(0))
    call.set("expressions", whole)


def _written_out(argument: exp.Expr, call: exp.Expr, scope: Scope, context: Context) -> Iterator[exp.Expr]:
    named = isinstance(call, exp.Struct)
    if is_star(argument):
        for column in star_columns(argument, scope, context):
            yield _field(column) if named else column.value.copy()
        return
    if named and argument.name.startswith("col") and argument.name[3:].isdigit():
        # Spark names it by its place, which the columns of the star have moved
        raise wrong("a field beside * has no name", argument, context.text, "name it with AS.")
    yield argument


def _field(column: Visible) -> exp.Expr:
    return exp.PropertyEQ(this=exp.to_identifier(column.label, quoted=True), expression=column.value.copy())


def _replaces(argument: exp.Expr) -> bool:
    star = argument.this if isinstance(argument, exp.Column) else argument
    return isinstance(star, exp.Star) and bool(star.args.get("replace"))


def _owned(item: exp.Expr, scope: Scope, context: Context) -> list[Visible]:
    assert isinstance(item, exp.Column)
    owner = [part.name for part in item.parts[:-1]]
    found = scope.star_of(owner)
    if found is None:
        raise wrong(f'"{".".join(owner)}" is not in the FROM clause', item, context.text)
    return found
