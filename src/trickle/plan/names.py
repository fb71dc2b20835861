"""Column names that belong to Trickle: a query may neither read nor produce them."""

from __future__ import annotations

WEIGHT = "__w"
"""The signed weight of a change: +1 a row that came, −1 a row that went."""
HIDDEN = "__trickle_"
"""What the names of a stored table's hidden columns begin with."""
STORED = "__trickle_stored"
"""The name under which a delta reads the stored rows of the stream table it maintains."""
CONTRIBUTIONS = "__trickle_contributions"
"""The name under which a step of a refresh reads what an earlier step found the change to contribute."""
KEYS = "__trickle_keys"
"""The name under which a step of a refresh reads the keys of groups to be computed anew."""

FILE = "__trickle_file"
"""Ordinal of the data file a row stands in; below zero for inlined rows."""
POSITION = "__trickle_pos"
"""Where in its file a row stands."""


def hidden(name: str) -> str:
    """The hidden column `name`.

    >>> hidden("count")
    '__trickle_count'
    """
    return HIDDEN + name


def is_reserved(name: str) -> bool:
    """Does Trickle keep this name for itself?

    >>> is_reserved("__W"), is_reserved("weight")
    (True, False)
    """
    folded = name.casefold()
    return folded == WEIGHT or folded.startswith(HIDDEN)
