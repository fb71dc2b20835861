"""WITH RECURSIVE: a relation that is read by its own definition."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from trickle.plan import Column, Item, Node, Project, col, hidden
from trickle.plan.monotone import Law, NotMonotone
from trickle.plan.recursion import Recursion, scan_of
from trickle.sql.dialects import SparkSql
from trickle.sql.lower.context import Context, Lowered
from trickle.sql.lower.parse import parse_query
from trickle.sql.lower.refuse import unsupported, wrong

_BRACKETS = 'write it as: first part UNION (parts that read "{}", with UNION ALL between them).'


def lower_recursive(cte: exp.CTE, context: Context) -> Lowered:
    """A query of WITH RECURSIVE; one that does not read itself is like any other."""
    tree = cte.this.unnest() if isinstance(cte.this, exp.Subquery) else cte.this
    if next(_readings(tree, cte.alias), None) is None:
        return context.lower(cte.this, context)
    _require_form(tree, cte.alias, context)
    base = context.lower(tree.this, context)
    labels = tuple(c.name for c in cte.args["alias"].args.get("columns") or ()) or base.labels
    if len(labels) != len(base.labels):
        raise wrong(f"{len(labels)} column aliases for {len(base.labels)} columns", cte, context.text)
    header = tuple(context.fresh(label, c.type) for label, c in zip(labels, base.plan.columns, strict=True))
    table = hidden(f"recursive_{context.memory.counter}")
    itself = Lowered(scan_of(table, header), labels)
    known = len(context.memory.recursions)
    step = context.lower(tree.expression, context.with_ctes({**context.ctes, cte.alias.casefold(): itself}))
    if len(step.labels) != len(labels):
        raise wrong(f"a set operation of {len(labels)} and {len(step.labels)} columns", tree, context.text)
    if any(table in inner.sources for inner in context.memory.recursions[known:]):
        raise unsupported("a recursion inside a recursion", tree, context.text)
    distinct = tree.args.get("distinct") is not False
    lawful = _lawful(step.plan, table, cte.alias, distinct, tree.expression, context)
    found = Recursion(table, cte.alias, _under(base.plan, header), _under(lawful, header), distinct)
    if not distinct and not found.linear:
        raise wrong(
            f'"{cte.alias}" joins itself with itself, which needs UNION',
            tree,
            context.text,
            "write UNION for UNION ALL.",
        )
    context.memory.recursions.append(found)
    return itself


def first_parts(text: str) -> str:
    """The query with each recursion cut down to its first part: it has the same columns, and Spark reads every one.

    >>> first_parts("WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT n + 1 FROM r) SELECT n FROM r")
    'WITH RECURSIVE r(n) AS (SELECT 1) SELECT n FROM r'
    """
    tree = parse_query(text, "spark")
    for cte in [c for w in tree.find_all(exp.With) if w.args.get("recursive") for c in w.expressions]:
        inside = cte.this.unnest() if isinstance(cte.this, exp.Subquery) else cte.this
        if isinstance(inside, exp.Union) and next(_readings(inside, cte.alias), None) is not None:
            cte.set("this", inside.this)
    return tree.sql(dialect=SparkSql)


def _readings(tree: exp.Expr, name: str) -> Iterator[exp.Table]:
    """Where the relation is named."""
    for table in tree.find_all(exp.Table):
        if not table.db and table.name.casefold() == name.casefold():
            yield table


def _require_form(tree: exp.Expr, name: str, context: Context) -> None:
    """`base UNION [ALL] step`, only the step reads the relation, and not from a subquery among expressions."""
    text = context.text
    if not isinstance(tree, exp.Union):
        raise wrong(
            f'"{name}" reads itself without UNION', tree, text, "write it as: first part UNION part that reads it."
        )
    if tree.args.get("by_name"):
        raise unsupported("UNION BY NAME", tree, text)
    if tree.args.get("with_"):
        raise unsupported("WITH before a recursive UNION", tree, text)
    if tree.args.get("order") or tree.args.get("limit") or tree.args.get("offset"):
        raise wrong(f'ORDER BY, LIMIT and OFFSET have no meaning in the recursion "{name}"', tree, text)
    for reading in _readings(tree.this, name):
        raise wrong(f'"{name}" is read by its first part', reading, text, _BRACKETS.format(name))
    for reading in _readings(tree.expression, name):
        if _inside_expression(reading, tree):
            raise unsupported(f'a subquery that reads the recursion "{name}"', reading, text)


def _inside_expression(reading: exp.Expr, tree: exp.Expr) -> bool:
    """Does a query around the reading stand where a value or a condition stands?"""
    places = (exp.From, exp.Join, exp.Subquery, exp.SetOperation, exp.CTE, exp.With)
    node = reading
    while node.parent is not None and node is not tree:
        if isinstance(node, exp.Query) and not isinstance(node.parent, places):
            return True
        node = node.parent
    return False


def _under(plan: Node, header: tuple[Column, ...]) -> Node:
    pairs = zip(header, plan.names, strict=True)
    return Project(plan, tuple(Item(column, col(name)) for column, name in pairs))


def _lawful(plan: Node, table: str, name: str, distinct: bool, tree: exp.Expr, context: Context) -> Node:
    """The step, which must not lose rows when the relation gains some."""
    try:
        return Law(frozenset({table}), distinct).checked(plan)
    except NotMonotone as found:
        if found.construct:
            raise unsupported(f'{found.construct} in the recursion "{name}"', tree, context.text) from None
        hint = "a recursion may only gain rows from rows: move this to the query that reads it."
        raise wrong(f'"{name}" reads itself {found.where}', tree, context.text, hint) from None
