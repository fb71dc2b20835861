"""What `*`, `t.*` and `struct.*` stand for."""

from __future__ import annotations

from sqlglot import exp

from trickle.plan.nested_types import fields_of
from trickle.sql.lower.context import Context
from trickle.sql.lower.refuse import unsupported, wrong
from trickle.sql.lower.scope import Scope, Visible


def is_star(node: object) -> bool:
    return isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star))


def columns_of_star(node: exp.Expr, scope: Scope, context: Context) -> list[Visible]:
    """Its columns, but those behind EXCEPT."""
    star = node.this if isinstance(node, exp.Column) else node
    left_out = {e.name.casefold() for e in star.args.get("except_") or star.args.get("except") or ()}
    found = _owned(node, scope, context) if isinstance(node, exp.Column) else scope.star()
    return [c for c in found if c.label.casefold() not in left_out]


def is_of_relation(node: exp.Expr, scope: Scope) -> bool:
    """Is it `t.*`, and no struct's?"""
    return isinstance(node, exp.Column) and scope.star_of([part.name for part in node.parts[:-1]]) is not None


def _owned(node: exp.Column, scope: Scope, context: Context) -> list[Visible]:
    owner = [part.name for part in node.parts[:-1]]
    found = scope.star_of(owner)
    return found if found is not None else _fields(owner, node, scope, context)


def _fields(owner: list[str], node: exp.Expr, scope: Scope, context: Context) -> list[Visible]:
    """The fields of a struct; of one that lies in another, too."""
    named = scope.visible(owner)
    if not named:
        raise wrong(f'"{".".join(owner)}" is not in the FROM clause', node, context.text)
    struct, path = named[0]
    for part in path:
        struct = _within(struct, part)
    made = fields_of(struct.type)
    if made is None:
        raise unsupported("a star of what is not known to be a struct", node, context.text, hint="list its fields.")
    return [_field(struct, name, type) for name, type in made]


def _within(struct: Visible, name: str) -> Visible:
    types = {field.casefold(): type for field, type in fields_of(struct.type) or ()}
    return _field(struct, name, types.get(name.casefold()))


def _field(struct: Visible, name: str, type: str | None) -> Visible:
    value = exp.Dot(this=struct.value.copy(), expression=exp.to_identifier(name, quoted=True))
    return Visible(name, value, type)
