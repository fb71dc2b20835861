"""The inputs of joins in the order in which most terms of their change are empty.

In the term of an input those before it are read as they were, those behind it as they are: children stand before
parents that gained rows, and behind parents that only lost some.
"""

from __future__ import annotations

from dataclasses import replace

from trickle.delta.declared.facts import Declared
from trickle.delta.declared.trace import related
from trickle.delta.simplify import flatten
from trickle.delta.state.storage import Storage
from trickle.plan import Join, Node, rebuild


def arranged(storage: Storage, declared: Declared) -> Storage:
    """The same stored rows, their joins arranged."""
    if not declared:
        return storage
    topmost = {"aggregate": storage.aggregate, "top": storage.top}
    found = {name: arrange(node, declared) for name, node in topmost.items() if node is not None}
    return replace(storage, plan=arrange(storage.plan, declared), **found)  # type: ignore[arg-type]


def arrange(plan: Node, declared: Declared) -> Node:
    """The plan with joins written flat and arranged."""
    return rebuild(flatten(plan), lambda node: _ordered(node, declared) if isinstance(node, Join) else node)


def _ordered(join: Join, declared: Declared) -> Node:
    """Each next input is the first that waits for none; in a circle, the first."""
    waits = _waits(join, declared)
    left, order = list(range(len(join.parts))), []
    while left:
        chosen = next((n for n in left if not waits[n] & set(left)), left[0])
        left.remove(chosen)
        order.append(chosen)
    return replace(join, parts=tuple(join.parts[n] for n in order))


def _waits(join: Join, declared: Declared) -> list[set[int]]:
    """For each input those that should stand before it."""
    waits: list[set[int]] = [set() for _ in join.parts]
    for reference in declared.references:
        for p, parent in enumerate(join.parts):
            for c, child in enumerate(join.parts):
                if p != c and related(reference, join.on, parent, child):
                    first, then = (p, c) if reference.parent in declared.lost else (c, p)
                    if reference.parent in declared.gained | declared.lost | declared.split:
                        waits[then].add(first)
    return waits
