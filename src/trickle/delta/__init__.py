"""How plans change: one rule per operator, from the deltas of its inputs to the delta of its output."""

from __future__ import annotations

from trickle.delta.differentiate import differentiate, raw_delta, settle
from trickle.delta.rules import RULES, Rule
from trickle.delta.simplify import PASSES, simplify
from trickle.delta.weights import consolidate

__all__ = ["PASSES", "RULES", "Rule", "consolidate", "differentiate", "raw_delta", "settle", "simplify"]
