"""WITH RECURSIVE at a refresh: each recursion is computed round by round, then read like a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ..delta import recursion as plans
from ..delta.state import Storage
from ..lake.held import as_frame
from ..lake.model import WEIGHT, Bound
from ..plan import STORED, Version
from ..plan.recursion import Recursion
from ..sql.names import quote_spark
from .frames import Frames
from .lookups import Read
from .rounds import Rederivation, Rounds, apart, held
from .windows import Columns


@dataclass
class Recursions:
    """The recursions of one refresh; each version of each is computed once, when it is asked for."""

    frames: Frames
    storage: Storage | None
    unchanged: frozenset[str]
    done: dict[Read, DataFrame] = field(default_factory=dict)

    @classmethod
    def join(
        cls,
        frames: Frames,
        recursions: Iterable[Recursion],
        storage: Storage | None = None,
        unchanged: frozenset[str] = frozenset(),
    ) -> None:
        """Let the frames know how to make them; with `storage`, of a refresh that moves the rows stored."""
        found = cls(frames, storage, unchanged)
        for recursion in recursions:
            for version in Version:
                frames.makers[recursion.table, version] = partial(found.make, recursion, version)

    def make(self, recursion: Recursion, version: Version, columns: Columns, bounds: Sequence[Bound]) -> DataFrame:
        return self.read(recursion, version)

    def read(self, recursion: Recursion, version: Version) -> DataFrame:
        read = (recursion.table, version)
        if read not in self.done:
            self._compute(recursion, version)
        return self.done[read]

    def _compute(self, recursion: Recursion, version: Version) -> None:
        table = recursion.table
        moves = self.storage is not None and table not in self.unchanged
        if version is Version.BEFORE:
            self.done[table, version] = self._stored(recursion) or self._anew(recursion, version)
        elif moves and not plans.obstacle(recursion):
            found = Rederivation(self.frames, recursion, self.read(recursion, Version.BEFORE), self.unchanged).run()
            self.done[table, Version.AFTER], self.done[table, Version.CHANGES] = found
        elif version is Version.AFTER:
            self.done[table, version] = self._anew(recursion, version)
        else:
            self.done[table, version] = self._difference(recursion)

    def _difference(self, recursion: Recursion) -> DataFrame:
        """R• − R°, one row a copy."""
        old, new = (self.read(recursion, version) for version in (Version.BEFORE, Version.AFTER))
        came, went = new.exceptAll(apart(old)), old.exceptAll(apart(new))
        return held(came.withColumn(WEIGHT, F.lit(1)).unionAll(went.withColumn(WEIGHT, F.lit(-1)))).rows

    def _anew(self, recursion: Recursion, version: Version) -> DataFrame:
        rounds = Rounds(self.frames, recursion, version)
        try:
            return rounds.all().rows
        finally:
            rounds.frames.close()

    def _stored(self, recursion: Recursion) -> DataFrame | None:
        """The rows before, where they are what the stream table stores."""
        columns = plans.stored_as(recursion, self.storage) if self.storage is not None else None
        if columns is None:
            return None
        stored = self.frames.makers[STORED, Version.BEFORE](None, ())
        rows = as_frame(stored, self.frames.lake.spark)
        return rows.select(*(F.col(quote_spark(columns[name])).alias(name) for name in recursion.base.names))
