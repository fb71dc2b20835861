"""The select list: stars, aliases, and aliases that later items use."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from trickle.errors import QueryError
from trickle.plan import is_reserved
from trickle.sql.lower.bind import Aliases, bind
from trickle.sql.lower.context import Context
from trickle.sql.lower.generators import is_generator
from trickle.sql.lower.refuse import unsupported
from trickle.sql.lower.scope import Scope
from trickle.sql.lower.stars import columns_of_star, is_star


@dataclass(frozen=True)
class Chosen:
    """A column of the select list."""

    label: str
    expression: exp.Expr
    alias: str = ""
    """The name given with AS, which GROUP BY, HAVING and later items may use."""


def expand_items(select: exp.Select, scope: Scope, context: Context) -> list[Chosen]:
    """Every column the SELECT yields, bound."""
    chosen: list[Chosen] = []
    for item in select.expressions:
        if is_star(item):
            chosen += _star(item, scope, context)
        else:
            chosen.append(_single(item, chosen, scope, context))
    for c in chosen:
        if is_reserved(c.label):
            raise QueryError(f'column name "{c.label}" is reserved', hint="give it another alias.")
    return chosen


def aliases_of(chosen: Iterable[Chosen]) -> Aliases:
    """What later items, GROUP BY, HAVING and ORDER BY may call by the name given with AS."""
    return {c.alias.casefold(): c.expression for c in chosen if c.alias}


def label_of(item: exp.Expr) -> str:
    """The name of a column without alias, as Spark gives it.

    >>> import sqlglot
    >>> label_of(sqlglot.parse_one("t.Amount")), label_of(sqlglot.parse_one("count(*)", dialect="spark"))
    ('Amount', 'count(1)')
    """
    if isinstance(item, exp.Alias | exp.Column | exp.Dot):
        return item.alias or item.name
    if isinstance(item, exp.Count) and isinstance(item.this, exp.Star):
        return "count(1)"
    bare = item.transform(_bare)
    if isinstance(bare, exp.Func) and not isinstance(bare, exp.Binary | exp.Connector | exp.Cast | exp.Case):
        name, parenthesis, rest = bare.sql(dialect="spark").partition("(")
        return name.casefold() + parenthesis + rest
    return bare.sql(dialect="spark")


def _bare(node: exp.Expr) -> exp.Expr:
    return exp.column(node.name) if isinstance(node, exp.Column) and not is_star(node) else node


def _single(item: exp.Expr, earlier: list[Chosen], scope: Scope, context: Context) -> Chosen:
    written = item.this if isinstance(item, exp.Alias | exp.Aliases) else item
    if isinstance(written, exp.QueryTransform):
        raise unsupported("TRANSFORM", item, context.text, "A script may answer differently every time.")
    if is_generator(written):
        raise unsupported("a generator among groups", item, context.text, "Use LATERAL VIEW.")
    expression = bind(written, scope, context, aliases_of(earlier))
    return Chosen(label_of(item), expression, item.alias if isinstance(item, exp.Alias) else "")


def _star(item: exp.Expr, scope: Scope, context: Context) -> list[Chosen]:
    """`* EXCEPT (a) REPLACE (b + 1 AS b)`"""
    star = item.this if isinstance(item, exp.Column) else item
    replaced = {
        e.alias.casefold(): bind(e.this, scope, context)
        for e in star.args.get("replace") or ()
        if isinstance(e, exp.Alias)
    }
    columns = columns_of_star(item, scope, context)
    return [Chosen(c.label, replaced.get(c.label.casefold(), c.value).copy()) for c in columns]
