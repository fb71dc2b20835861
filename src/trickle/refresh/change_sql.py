"""The change of a stored table, as one statement."""

from __future__ import annotations

from ..delta.state import Storage, maintain
from ..lake.model import WEIGHT
from ..plan import Node, Project, keep


def stored_change(storage: Storage, unchanged: frozenset[str] = frozenset(), appending: bool = False) -> Node:
    """The stored table's change: its columns in order and the weight."""
    change = maintain(storage, unchanged, appending)
    columns = {c.name: c for c in change.columns}
    return Project(change, keep([columns[n] for n in [*(c.name for c in storage.columns), WEIGHT]]))


def labelled(storage: Storage, plan: Node) -> list[str]:
    """Names for a plan's columns: the stored ones under their labels, all others under their own names."""
    labels = dict(zip((c.name for c in storage.columns), storage.stored_labels, strict=True))
    return [labels.get(name, name) for name in plan.names]
