"""The change of a stored table as Spark SQL."""

from __future__ import annotations

from ..delta.state import Storage, maintain
from ..lake.model import WEIGHT
from ..plan import Node, Project, keep
from ..sql.render import Relations, render
from .windows import Frames


def delta_sql(storage: Storage, unchanged: frozenset[str], frames: Frames, appending: bool = False) -> str:
    """The stored table's change as Spark SQL: its columns in order and the weight."""
    return render_change(storage, maintain(storage, unchanged, appending), frames.relation)


def render_change(storage: Storage, change: Node, relation: Relations) -> str:
    columns = {c.name: c for c in change.columns}
    ordered = Project(change, keep([columns[n] for n in [*(c.name for c in storage.columns), WEIGHT]]))
    return render(ordered, relation, (*storage.stored_labels, WEIGHT), broadcast=True)
