"""The change of a plan, rid of what declared keys make empty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from trickle.delta import linear
from trickle.delta.declared.facts import Declared, Reference, gone, updated
from trickle.delta.declared.trace import related
from trickle.delta.simplify import drop_empty, flatten, merge_projections, prune_columns
from trickle.delta.weights import PASSED_WEIGHT
from trickle.plan import (
    WEIGHT,
    Distinct,
    Filter,
    Join,
    Node,
    OuterJoin,
    Project,
    Scan,
    SemiJoin,
    UnionAll,
    Version,
    changes,
    empty,
    keep,
    rebuild,
)


@dataclass(frozen=True)
class Use:
    """What a declared key was good for."""

    reference: Reference
    effect: str


def rely(plan: Node, declared: Declared) -> tuple[Node, tuple[Use, ...]]:
    """The same change, as far as the declared keys hold; and what was made of them."""
    if not declared:
        return plan, ()
    work = _Work(declared)
    found = rebuild(plan, work.visit)
    if not work.uses:
        return plan, ()
    for step in (drop_empty, flatten, merge_projections, prune_columns, merge_projections):
        found = step(found)
    return found, tuple(dict.fromkeys(work.uses))


@dataclass
class _Work:
    declared: Declared
    uses: list[Use] = field(default_factory=list)

    def visit(self, node: Node) -> Node:
        match node:
            case Join():
                return self.join(node)
            case SemiJoin():
                return self.looked_at(node)
            case OuterJoin() if not node.full:
                return self.looked_at(node)
            case _:
                return node

    def join(self, node: Join) -> Node:
        for p, parent in enumerate(node.parts):
            for c, child in enumerate(node.parts):
                if p != c:
                    for pair in self.pairs(node, parent, child):
                        found = self.without(node, c, *pair)
                        if found is not None:
                            return found
        return node

    def without(self, node: Join, c: int, reference: Reference, changed: Scan, state: Scan) -> Node | None:
        """The join without the state of the child; None where it is needed."""
        child = node.parts[c]
        if self.is_empty(reference, state):
            self.told(reference, _term("{child} ⋈ Δ{parent} is empty", reference, state))
            return empty(node.columns)
        if self.is_change(reference, state) and _moved(child, state, _rows) is not None:
            self.told(reference, _term("{child} ⋈ Δ{parent} = Δ{child_name} ⋈ Δ{parent}", reference, state))
            return self.visit(_with_part(node, child, _moved(child, state, _rows)))
        if reference.parent in self.declared.split and self.holds_before(state):
            return self.split(node, child, reference, changed, state)
        return None

    def split(self, node: Join, child: Node, reference: Reference, changed: Scan, state: Scan) -> Node | None:
        """C° ⋈ ΔP = C° ⋈ ΔP_updated + ΔC ⋈ P_gone"""
        parent = next(part for part in node.parts if part is not child and _holds(part, changed))
        kept = _linear(parent, changed, replace(changed, table=updated(reference.parent)))
        went = _linear(parent, changed, replace(changed, table=gone(reference.parent)))
        moved = _linear(child, state, changes(state))
        if kept is None or went is None or moved is None:
            return None
        effect = "{child} ⋈ Δ{parent} = {child} ⋈ updated {parent} + Δ{child_name} ⋈ deleted {parent}"
        self.told(reference, _term(effect, reference, state))
        old = _with_part(node, parent, kept)
        if reference.child in self.declared.unchanged:
            return old
        new = _with_part(_with_part(node, parent, _weightless(went)), child, moved)
        return UnionAll((old, self.visit(new)))

    def looked_at(self, node: SemiJoin | OuterJoin) -> Node:
        """The right side without what cannot match; the state of the child where all that matches is its change."""
        for parent, child in ((node.left, node.right), (node.right, node.left)):
            for reference, _, state in self.pairs(node, parent, child):
                if self.is_empty(reference, state):
                    self.told(reference, _term("no row of {child} matches Δ{parent}", reference, state))
                    return replace(node, right=empty(node.right.columns))
                is_kept = child is node.left and (isinstance(node, OuterJoin) or node.anti)
                moved = None if is_kept else _moved(child, state, _rows)
                if moved is not None and self.is_change(reference, state):
                    self.told(reference, _term("rows of {child} that match Δ{parent} are changes", reference, state))
                    return replace(node, right=moved) if child is node.right else replace(node, left=moved)
        return node

    def pairs(self, node: Join | SemiJoin | OuterJoin, parent: Node, child: Node) -> list[tuple[Reference, Scan, Scan]]:
        """References by which a change of their table is joined to a state of the child's."""
        found = ((r, related(r, node.on, parent, child)) for r in self.declared.references)
        return [
            (reference, *scans)
            for reference, scans in found
            if scans and scans[0].version is Version.CHANGES and scans[1].version is not Version.CHANGES
        ]

    def is_empty(self, reference: Reference, state: Scan) -> bool:
        """Rows that came have no older children, those that went none that are left."""
        if reference.parent in self.declared.gained:
            return self.holds_before(state)
        return reference.parent in self.declared.lost and (
            state.version is Version.AFTER or state.table in self.declared.unchanged
        )

    def is_change(self, reference: Reference, state: Scan) -> bool:
        """All children of rows that came have come, all children of those that went have gone."""
        alike = self.declared.lost if state.version is Version.BEFORE else self.declared.gained
        return {reference.parent, reference.child} <= alike

    def holds_before(self, state: Scan) -> bool:
        return state.version is Version.BEFORE or state.table in self.declared.unchanged

    def told(self, reference: Reference, effect: str) -> None:
        self.uses.append(Use(reference, effect))


def _term(text: str, reference: Reference, state: Scan) -> str:
    when = "old" if state.version is Version.BEFORE else "new"
    return text.format(child=f"{when} {reference.child}", child_name=reference.child, parent=reference.parent)


def _with_part(node: Join, part: Node, other: Node | None) -> Join:
    assert other is not None
    return replace(node, parts=tuple(other if p is part else p for p in node.parts))


def _holds(node: Node, scan: Scan) -> bool:
    return node is scan or any(_holds(child, scan) for child in node.inputs)


def _rows(scan: Scan) -> Node:
    """The rows of a table's change without their weights: they all came, or all went."""
    return Project(changes(scan), keep(scan.columns))


def _weightless(node: Node) -> Node:
    return Project(node, keep([c for c in node.columns if c.name != WEIGHT]))


def _moved(node: Node, scan: Scan, make: Callable[[Scan], Node]) -> Node | None:
    """The node over another relation, where it asks of each row by itself whether and how it counts."""
    match node:
        case Scan():
            return make(node) if node is scan else None
        case Filter() | Project() | Distinct():
            below = _moved(node.input, scan, make)
            return None if below is None else node.with_inputs(below)
        case SemiJoin():
            below = _moved(node.left, scan, make)
            return None if below is None else replace(node, left=below)
        case _:
            return None


def _linear(node: Node, scan: Scan, other: Scan) -> Node | None:
    """The change of a filter and projection of a scan, over the change `other`."""
    match node:
        case Scan():
            return other if node is scan else None
        case Filter():
            below = _linear(node.input, scan, other)
            return None if below is None else linear.filter(node, below)
        case Project():
            below = _linear(node.input, scan, other)
            if below is None or WEIGHT not in node.names:
                return None if below is None else linear.project(node, below)
            return replace(node, input=below) if PASSED_WEIGHT in node.items else None
        case _:
            return None
