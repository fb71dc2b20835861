"""One SELECT: FROM, WHERE, GROUP BY, HAVING, windows, the select list, DISTINCT, ORDER BY with LIMIT."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from trickle.plan import (
    Column,
    Distinct,
    Filter,
    Item,
    Node,
    OuterJoin,
    Project,
    all_of,
    both,
    col,
    conjuncts,
    keep,
    references,
    same,
    type_of,
)
from trickle.plan import (
    grouped as parenthesized,
)
from trickle.sql.lower import subqueries
from trickle.sql.lower.bind import bind, is_subquery
from trickle.sql.lower.context import Context, Lowered
from trickle.sql.lower.correlation import equality, of_nothing
from trickle.sql.lower.domain import Domain
from trickle.sql.lower.from_clause import lower_from
from trickle.sql.lower.functions import is_aggregate
from trickle.sql.lower.generators import with_views
from trickle.sql.lower.grouping import Grouping, has_aggregate, ordinal
from trickle.sql.lower.grouping_sets import grouping_sets, has_sets, listed_before_sets
from trickle.sql.lower.join_subqueries import with_conditions_in_where
from trickle.sql.lower.ordering import Limit, first_rows, limit_of, ranked_rows, reordered, total_order, written_order
from trickle.sql.lower.refuse import refuse_maps, refuse_others, unsupported, wrong
from trickle.sql.lower.scope import Scope
from trickle.sql.lower.select_list import Chosen, aliases_of, expand_items
from trickle.sql.lower.windows import Windows, expand_named, without_filters

_MEANINGLESS = ("cluster", "distribute", "sort")
_CLAUSES = (
    *_MEANINGLESS, "with_", "hint", "expressions", "distinct", "from_", "joins", "laterals", "where", "group", "having",
    "qualify", "windows", "order", "limit", "offset",
)  # fmt: skip


@dataclass
class Block:
    """A SELECT on its way into the plan."""

    select: exp.Select
    context: Context
    scope: Scope
    domain: Domain | None = None
    """The rows around that the SELECT is computed for, if it reads them."""
    plan: Node = field(init=False)
    carried: tuple[Column, ...] = ()
    """The columns that tie rows to those around, as they are called by now: the domain's, or keys."""
    theirs: list[tuple[exp.Expr, type[exp.Binary]]] = field(default_factory=list)
    """What keys are compared with, and how."""
    correlated: list[exp.Expr] = field(default_factory=list)
    """Conjuncts that read columns of the query around."""
    order: list[exp.Expr] = field(default_factory=list)
    """ORDER BY over groups, when there are groups."""
    qualified: exp.Expr | None = None
    """QUALIFY over groups, when there are groups."""
    keys: dict[exp.Expr, exp.Expr] = field(default_factory=dict)
    """Group keys with subqueries, and what they are once those are joined in."""
    grouped: dict[str, str] = field(default_factory=dict)
    """Columns of the FROM clause that are group keys, and what the keys are called above the aggregate."""

    def __post_init__(self) -> None:
        refuse_others(self.select, _CLAUSES, self.context.text)
        for clause in _MEANINGLESS:
            if self.select.args.get(clause):
                self.context.note(f"{clause.upper()} BY has no meaning for a stored table and is ignored")
        select = without_filters(expand_named(self.select, self.context), self.context)
        self.select = with_views(with_conditions_in_where(select))
        self.plan = lower_from(self.select, self.scope, self.context, self.domain, self.keep_on)
        self.carried = () if self.domain is None else self.domain.columns
        where = self.select.args.get("where")
        if where is not None:
            self.keep_where(bind(where.this, self.scope, self.context))

    def inner(self, select: exp.Select) -> Block:
        """A subquery's SELECT, which may read the columns in sight here."""
        return Block(select, self.context, Scope(outer=self.scope))

    def keep_where(self, condition: exp.Expr) -> None:
        """σ, conjunct by conjunct: subquery predicates become joins, correlated ones wait for the outer query."""
        plain = []
        for conjunct in conjuncts(condition):
            if subqueries.is_predicate(conjunct):
                subqueries.join_predicate(self, conjunct)
                continue
            bound = subqueries.join_values(self, conjunct)
            if references(bound) <= set(self.plan.names):
                plain.append(bound)
            elif self.scope.outer is not None:
                self.correlated.append(bound)
            else:
                raise wrong("a condition reads columns that are gone", conjunct, self.context.text)
        if plain:
            self.plan = Filter(self.plan, all_of(plain))

    def keep_on(self, plan: Node, condition: exp.Expr) -> Node:
        """σ of the rows joined so far; what reads rows around would be asked too late."""
        self.plan = plan
        self.keep_where(bind(condition, self.scope, self.context))
        if self.correlated:
            raise unsupported("a join within a subquery on what is around it", condition, self.context.text)
        return self.plan

    def chosen(self) -> list[Chosen]:
        """The select list, stars and aliases expanded, bound to the FROM clause."""
        return expand_items(self.select, self.scope, self.context)

    def is_grouped(self, chosen: list[Chosen]) -> bool:
        having = self.select.args.get("having")
        return bool(self.select.args.get("group") or having) or any(
            has_aggregate(c.expression, self.context) for c in chosen
        )

    def lower(self) -> Lowered:
        """The whole SELECT."""
        chosen = self.chosen()
        if self.correlated:
            self.carry_keys(chosen)
        if self.is_grouped(chosen):
            chosen = self.group(chosen)
        chosen = [Chosen(c.label, subqueries.join_values(self, c.expression), c.alias) for c in chosen]
        chosen, order = self.window(chosen)
        return self.finish(chosen, order)

    def carry_keys(self, chosen: list[Chosen]) -> None:
        """Rows around are found by equality: what must be equal to theirs is carried along, no domain is needed."""
        total = self.is_grouped(chosen) and not self.select.args.get("group")
        around = self.scope.outer.columns() if self.scope.outer is not None else []
        keys = [equality(c, self.plan, around) for c in self.correlated]
        if total or self.domain is not None or any(key is None for key in keys):
            raise unsupported("a correlated subquery of this shape", self.correlated[0], self.context.text)
        items = [self.item("key", key.mine) for key in keys if key is not None]
        self.plan = Project(self.plan, (*keep(self.plan.columns), *items))
        self.carried = tuple(item.column for item in items)
        self.theirs = [(key.theirs, key.operator) for key in keys if key is not None]

    def links(self) -> tuple[exp.Expr, ...]:
        pairs = zip(self.carried, self.theirs, strict=True) if self.theirs else ()
        return tuple(both(theirs, col(mine.name), operator) for mine, (theirs, operator) in pairs)

    def group(self, chosen: list[Chosen]) -> list[Chosen]:
        """γ, then HAVING."""
        self.join_keys(chosen)
        chosen = [Chosen(c.label, self.with_values_inside(c.expression), c.alias) for c in chosen]
        having = self.select.args.get("having")
        kept = self.with_values_inside(self.bind_over_groups(having.this, chosen)) if having is not None else None
        order = [self.with_values_inside(o) for o in self.bound_order(chosen)]
        qualified = self.bound_qualify(chosen)
        grouping = self.grouping(chosen)
        source = self.plan
        over = [Chosen(c.label, grouping.over_groups(c.expression, source), c.alias) for c in chosen]
        self.order = [grouping.over_groups(o, source) for o in order]
        self.qualified = grouping.over_groups(qualified, source) if qualified is not None else None
        condition = grouping.over_groups(kept, source) if kept is not None else None
        self.plan = grouping.relation(source)
        self.carry_over(grouping)
        keys = [k for k in grouping.keys if isinstance(k.expression, exp.Column)]
        self.grouped = {k.expression.name: k.name for k in keys}
        if condition is not None:
            self.keep_where(condition)
        return over

    def with_values_inside(self, expression: exp.Expr) -> exp.Expr:
        """The expression with subqueries in keys and in arguments of aggregates joined in below the groups."""

        def visit(node: exp.Expr) -> exp.Expr:
            if _bare(node) in self.keys:
                return self.keys[_bare(node)].copy()
            if is_subquery(node):
                return node.copy()
            if is_aggregate(node, self.context.user_aggregates) and any(is_subquery(part) for part in node.walk()):
                return subqueries.join_values(self, node)
            return node

        return expression.transform(visit)

    def join_keys(self, chosen: list[Chosen]) -> None:
        """Subqueries that are grouped by are joined in first, once for all places that repeat them."""
        for key in map(_bare, self.group_keys(chosen)):
            if any(is_subquery(part) for part in key.walk()):
                self.keys[key] = subqueries.join_values(self, key)

    def carry_over(self, grouping: Grouping) -> None:
        """Carried columns are group keys now; without GROUP BY each row of a domain has a group, even of nothing."""
        keys, domain = grouping.keys[: len(self.carried)], self.domain
        self.carried = tuple(key.column for key in keys)
        if domain is None or self.select.args.get("group") is not None:
            return
        on = all_of(same(col(mine.name), col(key.name)) for mine, key in zip(domain.columns, keys, strict=True))
        known = [Item(key.column, col(mine.name)) for mine, key in zip(domain.columns, keys, strict=True)]
        calls = [Item(c.column, of_nothing(c, self.context.text)) for c in grouping.calls]
        self.plan = Project(OuterJoin(domain.plan, self.plan, on), (*known, *calls))

    def grouping(self, chosen: list[Chosen]) -> Grouping:
        """The keys of the GROUP BY clause, after those of the domain."""
        grouping = Grouping(self.context)
        group = self.select.args.get("group")
        carried = [col(c.name) for c in self.carried]
        for key in carried:
            grouping.add_key(key, self.plan)
        if group is not None and has_sets(group):
            for listed in listed_before_sets(group):
                grouping.add_key(self.set_key(listed, chosen), self.plan)
            sets = [[self.set_key(key, chosen) for key in keys] for keys in grouping_sets(group, self.context)]
            grouping.use_sets([[*carried, *keys] for keys in sets], self.plan)
            return grouping
        for written in self.group_keys(chosen):
            grouping.add_key(self.keys.get(_bare(written), written), self.plan)
        return grouping

    def group_keys(self, chosen: list[Chosen]) -> list[exp.Expr]:
        group = self.select.args.get("group")
        if group is None:
            return []
        if has_sets(group):
            sets = [listed_before_sets(group), *grouping_sets(group, self.context)]
            return [self.group_key(key, chosen) for keys in sets for key in keys]
        if group.args.get("all"):
            return [c.expression for c in chosen if not has_aggregate(c.expression, self.context)]
        return [self.group_key(key, chosen) for key in group.expressions]

    def set_key(self, key: exp.Expr, chosen: list[Chosen]) -> exp.Expr:
        written = self.group_key(key, chosen)
        return self.keys.get(_bare(written), written)

    def group_key(self, key: exp.Expr, chosen: list[Chosen]) -> exp.Expr:
        """An ordinal, an alias of the select list when no column has that name, or an expression."""
        if isinstance(key, exp.Literal) and key.is_int:
            found = ordinal(key, [c.expression for c in chosen])
            if found is None:
                raise wrong(f"GROUP BY position {key} is not in the select list", key, self.context.text)
            return found
        return self.bind_with_aliases(key, chosen)

    def bind_with_aliases(self, written: exp.Expr, chosen: list[Chosen]) -> exp.Expr:
        """Names mean columns first, then aliases of the select list."""
        return bind(written, self.scope, self.context, aliases_of(chosen))

    def bind_over_groups(self, written: exp.Expr, chosen: list[Chosen]) -> exp.Expr:
        """Names outside of aggregates mean keys, then aliases: `SELECT sum(b) AS b … HAVING b > 1 AND max(b) > 2`."""
        keys = {_bare(key) for key in self.group_keys(chosen)}
        found = {name: self.scope.find([name]) for name in aliases_of(chosen)}
        hiding = {columns[0]: aliases_of(chosen)[name] for name, columns in found.items() if columns}

        def visit(node: exp.Expr) -> exp.Expr:
            inside = is_aggregate(node, self.context.user_aggregates) or is_subquery(node) or _bare(node) in keys
            if inside or node not in hiding:
                return node.copy() if inside else node
            return parenthesized(hiding[node])

        return self.bind_with_aliases(written, chosen).transform(visit)

    def bound_order(self, chosen: list[Chosen]) -> list[exp.Expr]:
        """ORDER BY, when a LIMIT or DISTINCT ON gives it meaning: ordinals and aliases of the select list come first.

        The keys of DISTINCT ON stand before it.
        """
        distinct = self.select.args.get("distinct")
        keys = _keys_of(distinct.args.get("on")) if distinct is not None else []
        written = written_order(self.select, len(chosen))
        if not keys and (not written or limit_of(self.select, self.context) is None):
            return []
        return [self.bound_ordered(item, chosen) for item in (*(exp.Ordered(this=key) for key in keys), *written)]

    def bound_qualify(self, chosen: list[Chosen]) -> exp.Expr | None:
        qualify = self.select.args.get("qualify")
        return self.bind_with_aliases(qualify.this, chosen) if qualify is not None else None

    def bound_ordered(self, item: exp.Ordered, chosen: list[Chosen]) -> exp.Expr:
        item = item.copy()
        target = ordinal(item.this, [c.expression for c in chosen])
        if target is None and isinstance(item.this, exp.Column) and not item.this.table:
            named = [c for c in chosen if c.label.casefold() == item.this.name.casefold()]
            target = named[0].expression if named else None
        item.set("this", target.copy() if target is not None else self.bind_with_aliases(item.this, chosen))
        return item

    def window(self, chosen: list[Chosen]) -> tuple[list[Chosen], list[exp.Expr]]:
        """ω, then QUALIFY."""
        order = [subqueries.join_values(self, o) for o in self.order or self.bound_order(chosen)]
        qualified = self.qualified or self.bound_qualify(chosen)
        windows = Windows(self.context, [col(c.name) for c in self.carried])
        source = self.plan
        over = [Chosen(c.label, windows.take(c.expression, source), c.alias) for c in chosen]
        order = [windows.take(o, source) for o in order]
        condition = windows.take(qualified, source) if qualified is not None else None
        read = (*(c.expression for c in over), *order, *([condition] if condition is not None else []))
        self.plan = windows.over(source, read)
        if condition is not None:
            self.keep_where(condition)
        return over, order

    def finish(self, chosen: list[Chosen], order: list[exp.Expr]) -> Lowered:
        """π, δ and the top k."""
        self.require_known([*(c.expression for c in chosen), *order])
        items = (*keep(self.carried), *(self.item(c.label, c.expression) for c in chosen))
        labels = tuple(c.label for c in chosen)
        limit = limit_of(self.select, self.context)
        if self.select.args.get("distinct"):
            return Lowered(self.distinct(items, order, limit), labels, self.carried, self.links())
        if limit is None:
            return Lowered(Project(self.plan, items), labels, self.carried, self.links())
        return Lowered(self.top(items, order, limit), labels, self.carried, self.links())

    def require_known(self, expressions: list[exp.Expr]) -> None:
        """What is chosen must be computed from rows at hand; a query around is read by way of the domain."""
        for expression in expressions:
            if not references(expression) <= set(self.plan.names):
                raise unsupported("a correlated subquery of this shape", expression, self.context.text)

    def item(self, label: str, expression: exp.Expr) -> Item:
        return Item(self.context.fresh(label, type_of(expression, self.plan.columns)), expression)

    def distinct(self, items: tuple[Item, ...], order: list[exp.Expr], limit: Limit | None) -> Node:
        on = self.select.args["distinct"].args.get("on")
        if on is not None:
            return self.distinct_on(len(_keys_of(on)), items, order, limit)
        refuse_maps((i.column.type for i in items), "DISTINCT", self.select, self.context.text)
        rows = Distinct(Project(self.plan, items))
        if limit is None:
            return rows
        columns = {i.expression: col(i.name) for i in items}
        ranked = []
        for ordered in order:
            if ordered.this not in columns:
                raise wrong("ORDER BY of a SELECT DISTINCT must be chosen", ordered, self.context.text)
            ranked.append(reordered(ordered, columns[ordered.this]))
        return first_rows(rows, self.carried, ranked, limit, self.context)

    def distinct_on(self, keys: int, items: tuple[Item, ...], order: list[exp.Expr], limit: Limit | None) -> Node:
        """The first row, by ORDER BY, of those that agree in the keys, with which the order begins."""
        extra = [self.item("order", ordered.this) for ordered in order]
        wide = Project(self.plan, (*items, *extra))
        ranked = [reordered(o, col(e.name)) for o, e in zip(order[keys:], extra[keys:], strict=True)]
        partition = [col(c.name) for c in (*self.carried, *(e.column for e in extra[:keys]))]
        rows = ranked_rows(wide, partition, total_order(ranked, wide.columns), Limit(1), self.context)
        if limit is not None:
            rows = first_rows(rows, self.carried, ranked, limit, self.context)
        return Project(rows, keep([i.column for i in items]))

    def top(self, items: tuple[Item, ...], order: list[exp.Expr], limit: Limit) -> Node:
        """τ over the chosen columns and those the order needs beside them."""
        extra = [self.item("order", ordered.this) for ordered in order]
        wide = Project(self.plan, (*items, *extra))
        ranked = [reordered(o, col(e.name)) for o, e in zip(order, extra, strict=True)]
        best = first_rows(wide, self.carried, ranked, limit, self.context)
        return Project(best, keep([i.column for i in items]))


def _bare(expression: exp.Expr) -> exp.Expr:
    """Without the parentheses around it (those of a subquery are its own)."""
    return _bare(expression.this) if isinstance(expression, exp.Paren) else expression


def _keys_of(on: exp.Expr | None) -> list[exp.Expr]:
    if on is None:
        return []
    return list(on.expressions) if isinstance(on, exp.Tuple) else [on.unnest()]
