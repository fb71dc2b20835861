"""One of several writers on one lake: it appends and updates for some seconds, and says what it committed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from random import Random

import pyarrow as pa

import trickle
from trickle.errors import CommitConflict
from trickle.testing.programs import open_lake, order, say

ROWS = 3
SHARED = 0
"""Key of the counter that all writers increment; writer w also has its own, w + 1."""
WRITER_STRIDE = 1_000_000


def prepare(db: trickle.Session, writers: int) -> None:
    """One table that all append to, one for each writer, and counters: one shared, one for each writer."""
    with db.transaction():
        db.sql("CREATE TABLE events (id BIGINT)")
        for writer in range(writers):
            db.sql(f"CREATE TABLE own_{writer} (id BIGINT)")
        db.sql("CREATE TABLE counter (k INT, n BIGINT)")
        db.sql(f"INSERT INTO counter VALUES {', '.join(f'({k}, 0)' for k in range(writers + 1))}")


@dataclass(frozen=True)
class Done:
    """What an action committed: ids by table, and the counters it incremented."""

    appended: dict[str, list[int]] = field(default_factory=dict)
    counters: list[int] = field(default_factory=list)


class RacingWriter:
    def __init__(self, db: trickle.Session, number: int) -> None:
        self._db = db
        self._number = number
        self._next = number * WRITER_STRIDE

    def append_shared(self) -> Done:
        return Done(self._append("events"))

    def append_own(self) -> Done:
        return Done(self._append(f"own_{self._number}"))

    def increment_shared(self) -> Done:
        return Done(counters=[self._increment(SHARED)])

    def increment_own(self) -> Done:
        return Done(counters=[self._increment(self._number + 1)])

    def append_and_increment(self) -> Done:
        with self._db.transaction():
            return Done(self._append("events"), [self._increment(SHARED)])

    def actions(self) -> list[Callable[[], Done]]:
        return [
            self.append_shared,
            self.append_own,
            self.increment_shared,
            self.increment_own,
            self.append_and_increment,
        ]

    def _append(self, table: str) -> dict[str, list[int]]:
        ids = list(range(self._next, self._next + ROWS))
        self._next += ROWS
        self._db.append(table, pa.table({"id": pa.array(ids, pa.int64())}))
        return {table: ids}

    def _increment(self, key: int) -> int:
        self._db.sql(f"UPDATE counter SET n = n + 1 WHERE k = {key}")
        return key


def attempt(action: Callable[[], Done]) -> None:
    try:
        say(action=action.__name__, **asdict(action()))
    except CommitConflict as conflict:
        say(action=action.__name__, conflict=str(conflict))


def main() -> None:
    """Warm up, wait for the word to start, then race through all actions in random order until time is up."""
    wanted = order()
    with open_lake(wanted["lake"]) as db:
        writer = RacingWriter(db, wanted["number"])
        rng = Random(wanted["number"])
        db.table("counter").count()
        say(ready=True)
        sys.stdin.readline()
        end = time.monotonic() + wanted["seconds"]
        while time.monotonic() < end:
            for action in rng.sample(writer.actions(), len(writer.actions())):
                attempt(action)


if __name__ == "__main__":
    main()
