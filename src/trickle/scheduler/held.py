"""What stays behind however long a scheduler runs, and what it waits for."""

from __future__ import annotations

from ..schedules import Manual
from .state import Plan, Unit
from .survey import Sight


def held(sight: Sight, plan: Plan) -> dict[str, str]:
    """By name, why somebody has to do something: what holds it, paused, frozen, manual, or source for what reads
    something that is held."""
    return {
        sight.layout.tables[m.id].label: _why(sight, unit)
        for place, unit in enumerate(sight.layout.units)
        if place not in plan.idle and (sight.paused or place not in plan.coming)
        for m in unit.members
    }


def _why(sight: Sight, unit: Unit) -> str:
    found = [sight.blocks[m.id] for m in unit.members if m.id in sight.blocks]
    if found or sight.paused:
        return found[0] if found else "paused"
    if not all(isinstance(clock, Manual) for m in unit.members for clock in m.clocks):
        return "source"
    frozen = any(sight.layout.tables[m.id].options.get("tier") == "frozen" for m in unit.members)
    return "frozen" if frozen else "manual"
