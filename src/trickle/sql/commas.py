"""FROM a, b RIGHT JOIN c: what a comma joins.

The standard joins b and c first, Spark goes from left to right. (`spark.sql.ansi.relationPrecedence` would have it
otherwise, and is off unless someone asks for it.) Where the two differ, the standard's way is said with parentheses.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

_SAID = ("kind", "side", "method", "on", "using")


def with_commas_last(tree: exp.Expr) -> exp.Expr:
    """The query with what is joined between commas in parentheses, where its place matters."""
    for select in tree.find_all(exp.Select):
        joins = select.args.get("joins") or []
        if any(map(_is_comma, joins)):
            select.set("joins", [part for group in _between_commas(joins) for part in _closed(group)])
    return tree


def _is_comma(join: exp.Join) -> bool:
    return not any(join.args.get(part) for part in _SAID) and not isinstance(join.this, exp.Lateral)


def _between_commas(joins: Sequence[exp.Join]) -> list[list[exp.Join]]:
    groups: list[list[exp.Join]] = [[]]
    for join in joins:
        if _is_comma(join):
            groups.append([])
        groups[-1].append(join)
    return groups


def _closed(group: list[exp.Join]) -> list[exp.Join]:
    """A comma and the joins behind it as one; inner and left joins by ON mean the same without."""
    if not group or not _is_comma(group[0]) or not any(map(_depends_on_the_left, group[1:])):
        return group
    first, *others = group
    first.this.set("joins", [*(first.this.args.get("joins") or []), *others])
    return [exp.Join(this=exp.Subquery(this=first.this), kind="CROSS")]


def _depends_on_the_left(join: exp.Join) -> bool:
    by_name = join.args.get("using") or join.method.upper() == "NATURAL"
    return bool(by_name) or join.side.upper() in ("RIGHT", "FULL")
