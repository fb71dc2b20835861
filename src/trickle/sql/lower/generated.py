"""What generators make: names and types of columns, as Spark gives them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from trickle.plan import Column, type_of
from trickle.plan.nested_types import element_of, entry_of, fields_of
from trickle.sql.lower.functions import function_name

Made = list[tuple[str, str | None]]


def made_by(call: exp.Expr, columns: Sequence[Column]) -> Made | None:
    """The columns of a bound call; None where they depend on types that are not known."""
    match function_name(call):
        case "explode":
            return _exploded(call, columns)
        case "posexplode":
            return [("pos", "INT"), *_exploded(call, columns)]
        case "inline":
            fields = fields_of(element_of(type_of(call.this, columns)))
            return None if fields is None else [*fields]
        case "json_tuple":
            return [(f"c{n}", "STRING") for n in range(len(call.expressions) - 1)]
        case "stack":
            rows, values = int(call.this.name), len(call.expressions)
            return [(f"col{n}", None) for n in range(-(-values // rows))]
        case _:
            return None


def _exploded(call: exp.Expr, columns: Sequence[Column]) -> Made:
    type = type_of(call.this, columns)
    entry = entry_of(type)
    if entry is not None:
        return [("key", entry[0]), ("value", entry[1])]
    if isinstance(call.this, exp.Map | exp.VarMap):
        return [("key", None), ("value", None)]
    return [("col", element_of(type))]
