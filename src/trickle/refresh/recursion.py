"""WITH RECURSIVE at a refresh: each recursion is computed round by round, then read like a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ..lake.model import WEIGHT, Bound
from ..plan import Version
from ..plan.recursion import Recursion
from .lookups import Read
from .rounds import Found, Rounds, held
from .windows import Columns, Frames


@dataclass
class Recursions:
    """The recursions of one refresh; each version of each is computed once, when it is asked for."""

    frames: Frames
    done: dict[Read, Found] = field(default_factory=dict)

    @classmethod
    def join(cls, frames: Frames, recursions: Iterable[Recursion]) -> Recursions:
        """Let the frames know how to make them."""
        found = cls(frames)
        for recursion in recursions:
            for version in Version:
                frames.makers[recursion.table, version] = partial(found.make, recursion, version)
        return found

    def make(self, recursion: Recursion, version: Version, columns: Columns, bounds: Sequence[Bound]) -> DataFrame:
        return self.read(recursion, version).rows

    def read(self, recursion: Recursion, version: Version) -> Found:
        read = (recursion.table, version)
        if read not in self.done:
            changed = version is Version.CHANGES
            self.done[read] = self.change(recursion) if changed else self.state(recursion, version)
        return self.done[read]

    def change(self, recursion: Recursion) -> Found:
        """R• − R°, one row a copy."""
        old, new = (self.read(recursion, version).rows for version in (Version.BEFORE, Version.AFTER))
        came, went = new.exceptAll(old), old.exceptAll(new)
        return held(came.withColumn(WEIGHT, F.lit(1)).unionAll(went.withColumn(WEIGHT, F.lit(-1))))

    def state(self, recursion: Recursion, version: Version) -> Found:
        rounds = Rounds(self.frames, recursion, version)
        try:
            return rounds.all()
        finally:
            rounds.frames.close()
