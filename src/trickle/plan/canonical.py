"""Plans under names that say nothing: two that differ only in how their columns are called become equal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from sqlglot import exp

from trickle.plan.columns import Column
from trickle.plan.expressions import renamed
from trickle.plan.nodes import Node
from trickle.plan.tree import walk


def canonical(plan: Node) -> Node:
    """The plan with its columns numbered in the order in which they are met, from the top down."""
    names: dict[str, str] = {}
    for node in walk(plan):
        for column in node.columns:
            names.setdefault(column.name, f"n{len(names) + 1}")
    found: Node = _renamed(plan, names)
    return found


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    match value:
        case Column():
            return Column(names.get(value.name, value.name), value.type)
        case exp.Expr():
            return renamed(value, names)
        case tuple():
            return tuple(_renamed(v, names) for v in value)
        case _ if is_dataclass(value) and not isinstance(value, type):
            return type(value)(**{f.name: _renamed(getattr(value, f.name), names) for f in fields(value)})
        case _:
            return value
