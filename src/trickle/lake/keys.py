"""Declared keys of tables, as the catalog's tags hold them.

They are versioned like any definition. Columns are known by number and tables by uuid, so that renaming changes
nothing; a key whose table or column is gone is gone with it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .model import Column, ForeignKey, PrimaryKey

PRIMARY_KEY_TAG = "trickle.primary_key"
FOREIGN_KEY_TAG = "trickle.foreign_keys"
Tags = Mapping[str, tuple[str, int]]
"""Values of tags, with the snapshots that wrote them."""


def primary_key(tags: Tags, table: str, columns: tuple[Column, ...]) -> PrimaryKey | None:
    text, since = tags.get(PRIMARY_KEY_TAG, ("[]", 0))
    found = json.loads(text)
    fact = found if isinstance(found, dict) else {"columns": found}  # once only the columns were kept
    ids = tuple(fact.get("columns", ()))
    if not ids or not set(ids) <= {c.id for c in columns}:
        return None
    return PrimaryKey(ids, fact.get("name", f"{table}_pkey"), fact.get("rely", False), since)


def foreign_keys(tags: Tags, columns: tuple[Column, ...]) -> tuple[ForeignKey, ...]:
    text, since = tags.get(FOREIGN_KEY_TAG, ("[]", 0))
    known = {c.id for c in columns}
    # Once names were kept, which nobody read.
    facts = [f for f in json.loads(text) if "uuid" in f and set(f["columns"]) <= known]
    return tuple(
        ForeignKey(tuple(f["columns"]), f["uuid"], tuple(f["references"]), f["name"], f["rely"], since) for f in facts
    )


def tags_of(key: PrimaryKey | None, foreign: tuple[ForeignKey, ...]) -> dict[str, str]:
    """The tags that say this."""
    primary: dict[str, Any] = {}
    if key is not None:
        primary = {"columns": key.columns, "name": key.name, "rely": key.rely}
    facts = [
        {"columns": k.columns, "uuid": k.table, "references": k.references, "name": k.name, "rely": k.rely}
        for k in foreign
    ]
    return {PRIMARY_KEY_TAG: json.dumps(primary), FOREIGN_KEY_TAG: json.dumps(facts)}
