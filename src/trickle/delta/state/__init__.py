"""Stored state: what a stream table keeps behind its columns, and how a change moves it."""

from __future__ import annotations

from trickle.delta.state import steps, top
from trickle.delta.state.merge import initial, maintain
from trickle.delta.state.storage import Hidden, Storage, store

__all__ = ["Hidden", "Storage", "initial", "maintain", "steps", "store", "top"]
