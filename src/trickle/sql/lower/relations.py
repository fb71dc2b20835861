"""Relations that a name or VALUES stands for."""

from __future__ import annotations

from sqlglot import exp

from trickle.errors import CycleDetected, NotFound
from trickle.plan import Constant, Field, Scan
from trickle.sql.lower.bind import bind
from trickle.sql.lower.context import Context, Lowered
from trickle.sql.lower.parse import parse_query
from trickle.sql.lower.refuse import at, wrong
from trickle.sql.lower.scope import Scope


def lower_table(item: exp.Table, context: Context) -> Lowered:
    """A CTE, a view or a table, in this order."""
    name = ".".join(part.name for part in item.parts)
    folded = name.casefold()
    if folded in context.ctes:
        return context.another(context.ctes[folded])
    view = next((v for v in context.view_texts if v.casefold() == folded), None)
    if view is not None:
        return context.another(_view(view, item, context))
    table = next((t for t in context.schemas if t.casefold() == folded), None)
    if table is None:
        raise NotFound(f'table "{name}" does not exist{at(item, context.text)}')
    fields = tuple(Field(context.fresh(label, type), label) for label, type in context.schemas[table])
    return Lowered(Scan(table, fields), tuple(f.source for f in fields))


def lower_values(item: exp.Values, context: Context) -> Lowered:
    rows = [tuple(row.expressions) if isinstance(row, exp.Tuple) else (row,) for row in item.expressions]
    empty_scope = Scope()
    bound = tuple(tuple(bind(v, empty_scope, context) for v in row) for row in rows)
    if len({len(row) for row in bound}) != 1:
        raise wrong("rows of VALUES differ in length", item, context.text)
    header = tuple(context.fresh(f"col{n}") for n in range(1, len(bound[0]) + 1))
    return Lowered(Constant(header, bound), tuple(f"col{n}" for n in range(1, len(header) + 1)))


def _view(name: str, item: exp.Table, context: Context) -> Lowered:
    memory = context.memory
    if name in memory.opening:
        path = " -> ".join([*memory.opening, name])
        raise CycleDetected(f'view "{name}" is defined in terms of itself', detail=path)
    if name not in memory.views:
        memory.opening.append(name)
        text = context.view_texts[name]
        inside = context.reading(text)
        memory.views[name] = context.lower(parse_query(text, inside.dialect), inside)
        memory.opening.pop()
    return memory.views[name]
