"""⋉ travels down to the input its keys come from: (A ⋈ B) ⋉ G = (A ⋉ G) ⋈ B when G asks only about A."""

from __future__ import annotations

from dataclasses import replace

from trickle.plan import Filter, Join, Node, Project, SemiJoin, UnionAll, rebuild, references, substitute


def push_semi_joins(plan: Node) -> Node:
    """The plan with restrictions to affected keys as near to the scans as they may go."""
    return rebuild(plan, _push)


def _push(node: Node) -> Node:
    return _place(node) if isinstance(node, SemiJoin) and not node.anti else node


def _place(semi: SemiJoin) -> Node:
    match semi.left:
        case Filter() as below:
            return replace(below, input=_place(replace(semi, left=below.input)))
        case Project() as below:
            inner = {i.name: i.expression for i in below.items}
            if set(below.input.names) & set(semi.right.names):
                return semi
            on = substitute(semi.on, inner)
            return replace(below, input=_place(SemiJoin(below.input, semi.right, on)))
        case UnionAll() as below:
            return replace(below, parts=tuple(_place(replace(semi, left=part)) for part in below.parts))
        case Join() as below:
            asked = references(semi.on) - set(semi.right.names)
            for n, part in enumerate(below.parts):
                if asked and asked <= set(part.names):
                    pushed = _place(replace(semi, left=part))
                    return replace(below, parts=(*below.parts[:n], pushed, *below.parts[n + 1 :]))
            return semi
        case _:
            return semi
