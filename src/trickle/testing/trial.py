"""One lake worked on by both engines in turn, with a chronicle of what it must hold."""

from __future__ import annotations

from contextlib import nullcontext
from types import TracebackType

import pyarrow as pa
from pyspark.sql import SparkSession

from trickle.testing.chronicle import Chronicle, Shadow
from trickle.testing.duckdb_peer import DuckDBError, DuckDBPeer
from trickle.testing.generator import Generator
from trickle.testing.lakes import LakeSite
from trickle.testing.operations import Append, Change, Maintain, Operation, Step, Upkeep, Writer

REFUSALS = ("Failed to read inlined-data aggregates from DuckLake: Referenced column",)
"""What DuckDB 1.5.5 cannot do in lakes of its own either: it says so, and leaves the lake as it was."""


class Trial:
    """Runs the operations of a seed. DuckDB inlines in every second lake, and makes every third.

    In every other pair of lakes Trickle's driver reads small changes, in the rest Spark reads all.
    """

    def __init__(self, site: LakeSite, spark: SparkSession, peer: DuckDBPeer, seed: int) -> None:
        inlining = seed % 2 == 0
        self.site, self.spark, self.peer, self.seed = site, spark, peer, seed
        if seed % 3 == 0:
            site.data.mkdir(parents=True, exist_ok=True)
            peer.run(site.address)
        self.db = site.connect(spark, lake__driver_read_mb=32 if seed // 2 % 2 else 0)
        limit = Upkeep.INLINE_SOME if inlining else Upkeep.INLINE_NONE
        peer.run(site.address, limit.value)
        self._generator = Generator(seed, inlining)
        self._shadow = Shadow(peer)
        self.chronicle = Chronicle({self.db.head(): {}})

    def run(self, operations: int) -> int:
        """Do at least so many operations and return how many it were."""
        done = 0
        while done < operations:
            before = dict(self._generator.shapes)
            operation = self._generator.next()
            if self._did(operation):
                done += operation.weight
                state = self._shadow.apply(operation, dict(self._generator.shapes))
                self.chronicle.note(operation, self.db.head(), state)
            else:
                self._generator.shapes = before
        return done

    def expire(self, keep: int) -> None:
        """Let Trickle forget all but the newest snapshots and remove what nobody needs any more."""
        self.db.expire_snapshots(keep=keep)
        self.db.clean_files(grace_seconds=0)
        self.db.collect_orphans(grace_seconds=0)
        self.chronicle.operations.append(f"{self.db.head()}: expire, keep {keep}")
        self.chronicle.keep({snapshot.id for snapshot in self.db.snapshots()})

    def story(self, *lines: str) -> str:
        """What went wrong and how to see it again."""
        return "\n".join([*lines, f"seed {self.seed}, operations:", *self.chronicle.operations])

    def __enter__(self) -> Trial:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.db.close()

    def _did(self, operation: Operation) -> bool:
        try:
            if operation.writer is Writer.TRICKLE:
                self._by_trickle(operation)
            else:
                self.peer.run(self.site.address, *duckdb_texts(operation))
        except DuckDBError as error:
            if any(refusal in str(error) for refusal in REFUSALS):
                return False
            raise AssertionError(self.story(f"DuckDB failed: {error}", f"in {operation}")) from error
        except Exception as error:
            raise AssertionError(self.story(f"Trickle failed: {error!r}", f"in {operation}")) from error
        return True

    def _by_trickle(self, operation: Operation) -> None:
        if isinstance(operation, Maintain):
            self._maintain(operation)
        elif operation.rolled_back:
            self.db.sql("BEGIN")
            self._steps(operation)
            self.db.sql("ROLLBACK")
        else:
            with self.db.transaction() if operation.atomic else nullcontext():
                self._steps(operation)

    def _steps(self, change: Change) -> None:
        for step in change.steps:
            self._step(step)

    def _step(self, step: Step) -> None:
        if step.append is not None:
            self.db.append(quoted(step.table), self._data(step.append))
        else:
            self.db.sql(step.text.spark)

    def _data(self, append: Append) -> object:
        fields = append.shape.fields
        columns = {
            f.name: pa.array(v, f.kind.arrow) for f, v in zip(fields, zip(*append.rows, strict=True), strict=True)
        }
        table = pa.table(columns)
        if append.carrier == "dicts":
            names = [field.name for field in fields]
            return [dict(zip(names, row, strict=True)) for row in append.rows]
        return self.spark.createDataFrame(table) if append.carrier == "spark" else table

    def _maintain(self, operation: Maintain) -> None:
        match operation.upkeep:
            case Upkeep.MERGE_FILES:
                self.db.merge_files()
            case Upkeep.REWRITE_DELETES:
                self.db.rewrite_deletes(threshold=0.01)
            case Upkeep.CLEAN_FILES:
                self.db.clean_files(grace_seconds=0)
            case Upkeep.CLUSTER:
                self.db.cluster(quoted(operation.table or ""), by=["k"])
            case Upkeep.COLLECT_ORPHANS:
                self.db.collect_orphans(grace_seconds=0)


def quoted(table: str) -> str:
    """A table's name as Spark writes it."""
    return "`" + table.replace("`", "``") + "`"


def duckdb_texts(operation: Operation) -> list[str]:
    """What DuckDB is told on the lake."""
    if isinstance(operation, Maintain):
        return [operation.upkeep.value]
    texts = [step.text.duckdb for step in operation.steps]
    if not operation.atomic:
        return texts
    return ["BEGIN", *texts, "ROLLBACK" if operation.rolled_back else "COMMIT"]
