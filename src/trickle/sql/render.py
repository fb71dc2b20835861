"""From a plan to Spark SQL: the one place where text is born.

The same plan always gives the same text: names come from the plan, aliases from the order of the walk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from trickle.plan import (
    Aggregate,
    Column,
    Constant,
    Distinct,
    Expand,
    Filter,
    Generate,
    Item,
    Join,
    Node,
    OuterJoin,
    Project,
    Scan,
    SemiJoin,
    SetOp,
    TopK,
    UnionAll,
    Version,
    Window,
    all_of,
    conjuncts,
    equated,
    is_small,
    references,
    share,
    shared_nodes,
)
from trickle.sql.dialects import SparkSql

_ONE = "COALESCE(1)"
_TOGETHER = f"/*+ {_ONE} */ "
"""All rows in one partition, as Spark knows then."""
Relations = Callable[[str, Version], str]
"""The relation, as SQL text, that holds a table in one of its versions."""


def render(
    plan: Node,
    relations: Relations,
    labels: Sequence[str] | None = None,
    *,
    broadcast: bool = False,
    one_task: bool = False,
    hashed: bool = False,
) -> str:
    """The plan as one SELECT, its columns under `labels` (else their own names); parts read twice are CTEs.

    With `broadcast`, joins carry hints for the sides that are small; with `one_task`, what comes together stays so;
    with `hashed`, nothing is sorted to be joined by equal keys.
    """
    plan = share(plan)
    writer = _Writer(relations, broadcast, one_task, hashed)
    for n, node in enumerate(shared_nodes(plan), start=1):
        body = writer.select(node)
        writer.named[id(node)] = f"t{n}"
        writer.parts.append(f"t{n} AS ({body})")
    body = writer.select(plan) if labels is None else _relabel(writer, plan, labels)
    return f"WITH {', '.join(writer.parts)} {body}" if writer.parts else body


def quote(name: str) -> str:
    """The name as an identifier.

    >>> quote("order `no`")
    '`order ``no```'
    """
    return "`" + name.replace("`", "``") + "`"


def text(expression: exp.Expr) -> str:
    return expression.sql(dialect=SparkSql)


@dataclass
class _Source:
    """What stands behind FROM, and what a WHERE must still say."""

    relation: str
    where: list[exp.Expr] = field(default_factory=list)
    hinted: list[str] = field(default_factory=list)

    def clause(self) -> str:
        return f"FROM {self.relation}" + (f" WHERE {text(all_of(self.where))}" if self.where else "")

    @property
    def hint(self) -> str:
        return f"/*+ {', '.join(self.hinted)} */ " if self.hinted else ""


@dataclass
class _Writer:
    relations: Relations
    broadcast: bool
    one_task: bool
    hashed: bool = False
    named: dict[int, str] = field(default_factory=dict)
    parts: list[str] = field(default_factory=list)
    spread: dict[int, list[exp.Expr]] = field(default_factory=dict)
    """Aggregates whose rows are first brought together by the keys of an aggregate above them."""
    aliases: int = 0

    def select(self, node: Node, names: Sequence[str] | None = None) -> str:
        """`node` as a SELECT of exactly these columns, in this order."""
        wanted = node.names if names is None else tuple(names)
        if id(node) in self.named:
            return f"SELECT {_names(wanted)} FROM {self.named[id(node)]}"
        match node:
            case UnionAll():
                return self.union(node, wanted)
            case Scan():
                return self.scan(node, wanted)
            case Constant():
                return self.constant(node, wanted)
            case Project():
                return self.picked(node.input, _pick(node.items, wanted))
            case Aggregate():
                return self.aggregate(node, wanted)
            case Distinct():
                return self.distinct(node, wanted)
            case Window():
                return self.window(node, wanted)
            case TopK():
                return f"{self.plain(node.input, wanted)} {_ranked(node)}"
            case Expand():
                return self.expand(node, wanted)
            case _:
                return self.plain(node, wanted)

    def union(self, node: UnionAll, wanted: Sequence[str]) -> str:
        parts = " UNION ALL ".join(self.select(part, wanted) for part in node.parts)
        if not self.one_task:
            return parts
        return f"SELECT {_TOGETHER}{_names(wanted)} FROM ({parts}) AS {self.alias()}"

    def plain(self, node: Node, wanted: Sequence[str]) -> str:
        source = self.source(node)
        return f"SELECT {source.hint}{_names(wanted)} {source.clause()}"

    def picked(self, node: Node, items: Iterable[Item], tail: str = "") -> str:
        """`SELECT expression AS name, … FROM node`."""
        source = self.source(node)
        return f"SELECT {source.hint}{_items(items)} {source.clause()}{tail}"

    def scan(self, node: Scan, wanted: Sequence[str]) -> str:
        sources = {f.column.name: f.source for f in node.fields}
        listed = ", ".join(f"{quote(sources[n])} AS {quote(n)}" if sources.get(n, n) != n else quote(n) for n in wanted)
        hint = _TOGETHER if self.one_task else ""
        return f"SELECT {hint}{listed} FROM {self.relations(node.table, node.version)}"

    def constant(self, node: Constant, wanted: Sequence[str]) -> str:
        if not node.rows:
            types = {c.name: c.type for c in node.columns}
            listed = ", ".join(f"{_nothing(types[name])} AS {quote(name)}" for name in wanted)
            return f"SELECT {listed} WHERE FALSE"
        rows = ", ".join(f"({', '.join(text(value) for value in row)})" for row in node.rows)
        return f"SELECT {_names(wanted)} FROM (VALUES {rows}) AS {self.alias()}({_names(node.names)})"

    def aggregate(self, node: Aggregate, wanted: Sequence[str]) -> str:
        keys = ", ".join(text(_entries(key)) for key in node.keys)
        items = _pick((*map(_as_key, node.keys), *node.calls), wanted)
        grouping = f" GROUP BY {keys}" if keys else ""
        if self.broadcast:
            self.bring_together(node)
        if id(node) not in self.spread:
            return self.picked(node.input, items, grouping)
        by = ", ".join(text(key) for key in self.spread[id(node)])
        rows = f"(SELECT * FROM {self.relation(node.input)} DISTRIBUTE BY {by}) AS {self.alias()}"
        return f"SELECT {_items(items)} FROM {rows}{grouping}"

    def bring_together(self, outer: Aggregate) -> None:
        """A group of groups needs one exchange, not two, when rows meet by the outer keys from the start."""
        inner, names = outer.input, {k.name: k.expression for k in outer.keys}
        while isinstance(inner, Project | Filter) and id(inner) not in self.named:
            if isinstance(inner, Project):
                below = {i.name: i.expression for i in inner.items}
                names = {n: below.get(e.name, e) if isinstance(e, exp.Column) else e for n, e in names.items()}
            inner = inner.input
        if not isinstance(inner, Aggregate) or id(inner) in self.named or not names:
            return
        keys = {k.name: k.expression for k in inner.keys}
        if all(isinstance(e, exp.Column) and e.name in keys for e in names.values()):
            self.spread[id(inner)] = [keys[e.name] for e in names.values()]

    def distinct(self, node: Distinct, wanted: Sequence[str]) -> str:
        return f"SELECT DISTINCT {_names(wanted)} FROM {self.relation(node.input)}"

    def window(self, node: Window, wanted: Sequence[str]) -> str:
        return self.picked(node.input, _pick((*_kept(node.input.columns), *node.calls), wanted))

    def expand(self, node: Expand, wanted: Sequence[str]) -> str:
        inner, sets = self.relation(node.input), self.alias()
        marker = exp.column("__set", quoted=True)
        items = [_choice(node, marker, n) for n, name in enumerate(node.names) if name in wanted]
        rows = ", ".join(f"({n})" for n in range(len(node.projections)))
        picked = {item.name: item for item in items}
        listed = _items(picked[name] for name in wanted)
        return f"SELECT {listed} FROM {inner} CROSS JOIN (VALUES {rows}) AS {sets}({quote('__set')})"

    def source(self, node: Node) -> _Source:
        """`node` as the body of a FROM clause."""
        if id(node) in self.named:
            return _Source(self.relation(node))
        match node:
            case Filter():
                below = self.source(node.input)
                below.where.append(node.condition)
                return below
            case Join():
                return self.join(node)
            case OuterJoin():
                return self.two_sided(node, "FULL OUTER JOIN" if node.full else "LEFT JOIN", not node.full)
            case SemiJoin():
                return self.two_sided(node, "LEFT ANTI JOIN" if node.anti else "LEFT SEMI JOIN", True)
            case Generate():
                return self.generate(node)
            case SetOp():
                left, right = self.select(node.left, node.names), self.select(node.right, node.names)
                word = f"{node.kind.value} ALL" if node.all else node.kind.value
                return _Source(f"(({left}) {word} ({right})) AS {self.alias()}")
            case _:
                return _Source(self.relation(node))

    def join(self, node: Join) -> _Source:
        """Each input joined on the conjuncts that it completes."""
        first, *others = _linked(node)
        source, waiting = _Source(self.relation(first)), list(conjuncts(node.on))
        self.hint(source, first)
        known = set(first.names)
        for part in others:
            known |= set(part.names)
            ready = [c for c in waiting if references(c) <= known]
            waiting = [c for c in waiting if c not in ready]
            link = (
                f"JOIN {self.relation(part)} ON {text(all_of(ready))}" if ready else f"CROSS JOIN {self.relation(part)}"
            )
            source.relation += f" {link}"
            self.hint(source, part, ready)
            if self.one_task:
                hints = ", ".join((_ONE, *source.hinted))
                source = _Source(f"(SELECT /*+ {hints} */ * FROM {source.relation}) AS {self.alias()}")
        source.where.extend(waiting)
        return source

    def two_sided(self, node: OuterJoin | SemiJoin, word: str, may_hint: bool) -> _Source:
        source = _Source(self.relation(node.left))
        source.relation += f" {word} {self.relation(node.right)} ON {text(node.on)}"
        if may_hint or self.hashed:
            self.hint(source, node.right, conjuncts(node.on))
        return source

    def generate(self, node: Generate) -> _Source:
        word = "LATERAL VIEW OUTER" if node.outer else "LATERAL VIEW"
        made = _names(c.name for c in node.made)
        return _Source(f"{self.relation(node.input)} {word} {text(node.generator)} {self.alias()} AS {made}")

    def relation(self, node: Node) -> str:
        """`node` as one item of a FROM clause, with an alias of its own."""
        if id(node) in self.named:
            return f"{self.named[id(node)]} AS {self.alias()}"
        return f"({self.select(node)}) AS {self.alias()}"

    def hint(self, source: _Source, node: Node, joined_by: Iterable[exp.Expr] = ()) -> None:
        """Ask for a broadcast of the relation written last when it is small; or not to sort it by equal keys."""
        if self.broadcast and is_small(node):
            source.hinted.append(f"BROADCAST(r{self.aliases})")
        elif self.hashed and any(equated(c, set(node.names)) for c in joined_by):
            source.hinted.append(f"SHUFFLE_HASH(r{self.aliases})")

    def alias(self) -> str:
        self.aliases += 1
        return f"r{self.aliases}"


def _relabel(writer: _Writer, plan: Node, labels: Sequence[str]) -> str:
    pairs = zip(plan.names, labels, strict=False)
    listed = ", ".join(f"{quote(name)} AS {quote(label)}" for name, label in pairs)
    return f"SELECT {listed} FROM {writer.relation(plan)}"


def _linked(join: Join) -> list[Node]:
    """The inputs, each after one it shares a conjunct with if there is one: no needless cross product."""
    ordered, waiting = [join.parts[0]], list(join.parts[1:])
    known = set(join.parts[0].names)
    links = [references(c) for c in conjuncts(join.on)]
    while waiting:
        near = next((p for p in waiting if any(_links(link, known, set(p.names)) for link in links)), waiting[0])
        waiting.remove(near)
        ordered.append(near)
        known |= set(near.names)
    return ordered


def _links(link: frozenset[str], known: set[str], names: set[str]) -> bool:
    return bool(link & known) and bool(link & names)


def _choice(node: Expand, marker: exp.Expr, n: int) -> Item:
    """The n-th column: what each projection says of it, chosen by the marker."""
    branches = [
        exp.If(this=exp.EQ(this=marker.copy(), expression=exp.Literal.number(i)), true=p[n].expression.copy())
        for i, p in enumerate(node.projections)
    ]
    return Item(node.projections[0][n].column, exp.Case(ifs=branches))


def _nothing(type: str | None) -> str:
    return f"CAST(NULL AS {type})" if type else "NULL"


def _kept(columns: Iterable[Column]) -> tuple[Item, ...]:
    return tuple(Item(c, exp.column(c.name, quoted=True)) for c in columns)


def _entries(key: Item) -> exp.Expr:
    """What rows are grouped by. Spark 4.3 makes 0 of a NULL in a map that it groups by; not so in sorted entries."""
    if not (key.column.type or "").casefold().startswith("map"):
        return key.expression
    entries = exp.Anonymous(this="map_entries", expressions=[key.expression.copy()])
    return exp.Anonymous(this="sort_array", expressions=[entries])


def _as_key(key: Item) -> Item:
    by = _entries(key)
    return key if by is key.expression else Item(key.column, exp.Anonymous(this="map_from_entries", expressions=[by]))


def _pick(items: Iterable[Item], wanted: Sequence[str]) -> list[Item]:
    by_name = {item.name: item for item in items}
    return [by_name[name] for name in wanted]


def _items(items: Iterable[Item]) -> str:
    return ", ".join(_item(item) for item in items)


def _item(item: Item) -> str:
    if isinstance(item.expression, exp.Column) and item.expression.name == item.name:
        return quote(item.name)
    return f"{text(item.expression)} AS {quote(item.name)}"


def _names(names: Iterable[str]) -> str:
    return ", ".join(quote(n) for n in names)


def _ranked(node: TopK) -> str:
    order = ", ".join(text(o) for o in node.order)
    return f"ORDER BY {order} LIMIT {node.limit}" + (f" OFFSET {node.offset}" if node.offset else "")
