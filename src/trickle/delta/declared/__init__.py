"""Declared keys that may be relied upon: which parts of a change they make empty, or small.

Of a foreign key C.x → P.k, k the key of P, that holds at the frontier and at the target:

    C° ⋈ ΔP = ∅       if P only gained rows: a row that came has no older children
    C• ⋈ ΔP = ∅       if P only lost rows: a row that went has no children left
    C° ⋈ ΔP = C° ⋈ ΔP_updated + ΔC ⋈ P_gone      otherwise: the key of an updated row both came and went

Nothing here is assumed of keys that are not declared with RELY.
"""

from __future__ import annotations

from trickle.delta.declared.arrange import arrange, arranged
from trickle.delta.declared.facts import NOTHING, Declared, Reference, gone, updated
from trickle.delta.declared.rely import Use, rely

__all__ = ["NOTHING", "Declared", "Reference", "Use", "arrange", "arranged", "gone", "rely", "updated"]
