"""How plans change: one rule per operator, from the deltas of its inputs to the delta of its output."""

from __future__ import annotations

from trickle.delta.differentiate import differentiate, raw_delta, settle
from trickle.delta.explain import Strategy, strategies
from trickle.delta.rules import RULES, Rule
from trickle.delta.simplify import PASSES, simplify
from trickle.delta.state import Hidden, Storage, initial, maintain, store
from trickle.delta.weights import consolidate

__all__ = [
    "PASSES",
    "RULES",
    "Hidden",
    "Rule",
    "Storage",
    "Strategy",
    "consolidate",
    "differentiate",
    "initial",
    "maintain",
    "raw_delta",
    "settle",
    "simplify",
    "store",
    "strategies",
]
