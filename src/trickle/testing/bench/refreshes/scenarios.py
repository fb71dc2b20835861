"""The kinds of queries that the matrix measures, over a table of facts and one of what they point at."""

from __future__ import annotations

from dataclasses import dataclass

from ..arena import Arena

SHARE_OF_THINGS = 0.1
"""Things per fact."""


@dataclass(frozen=True)
class Scenario:
    name: str
    query: str
    least_gain: float
    """What is aimed at with 1M rows of which 0.1 % change."""
    is_linear: bool = False

    @property
    def least_edge(self) -> float | None:
        """The share of changed rows up to which a differential refresh shall pay; None: nothing is aimed at."""
        return 0.1 if self.is_linear else 0.05 if "join" in self.name else None


SCENARIOS = (
    Scenario("scan", "SELECT id, thing, amount, upper(note) AS note FROM facts", 8, is_linear=True),
    Scenario("filter", "SELECT id, thing, amount FROM facts WHERE amount >= 9000", 8, is_linear=True),
    Scenario("aggregate", "SELECT kind, count(*) AS n, sum(amount) AS total FROM facts GROUP BY kind", 8, True),
    Scenario("join", "SELECT f.id, f.amount, t.name FROM facts f JOIN things t ON f.thing = t.id", 3),
    Scenario(
        "join-aggregate",
        """SELECT t.family, count(*) AS n, sum(f.amount) AS total
           FROM facts f JOIN things t ON f.thing = t.id GROUP BY t.family""",
        8,
    ),
    Scenario(
        "window",
        "SELECT id, thing, rank() OVER (PARTITION BY thing ORDER BY amount DESC, id) AS place FROM facts",
        3,
    ),
    Scenario("distinct", "SELECT DISTINCT kind, thing FROM facts", 3),
    Scenario("left-join", "SELECT t.id, t.name, f.amount FROM things t LEFT JOIN facts f ON f.thing = t.id", 3),
    Scenario(
        "semi-join",
        "SELECT id, name FROM things t WHERE EXISTS (SELECT 1 FROM facts f WHERE f.thing = t.id AND f.amount >= 9000)",
        3,
    ),
    Scenario("top-k", "SELECT id, thing, amount FROM facts ORDER BY amount DESC, id LIMIT 100", 3),
)


@dataclass
class Facts:
    """The two tables, and changes of so many facts: a third new, a third gone, a third corrected."""

    arena: Arena
    rows: int

    def create(self) -> None:
        db, spark = self.arena.db, self.arena.spark
        things = self.things
        for name in ("facts", "things"):
            db.sql(f"DROP TABLE IF EXISTS {name}")
        db.sql("CREATE TABLE facts (id BIGINT, thing BIGINT, kind INT, amount BIGINT, note STRING) CLUSTER BY (id)")
        db.sql("CREATE TABLE things (id BIGINT, family INT, name STRING) CLUSTER BY (id)")
        db.append("facts", spark.sql(self._made(0, self.rows)))
        family = "CAST(id % 100 AS INT) AS family"
        made = f"SELECT id, {family}, concat('thing ', id) AS name FROM range(0, {things}, 1, 2)"
        db.append("things", spark.sql(made))
        self._next, self._oldest, self._corrected = self.rows, 0, self.rows // 2

    @property
    def things(self) -> int:
        return max(10, round(self.rows * SHARE_OF_THINGS))

    def change(self, many: int) -> None:
        """As many facts go as come, give or take two: there are enough for any number of rounds."""
        third, rest = divmod(many, 3)
        with self.arena.db.transaction():
            self._insert(third + rest)
            if third:
                self._delete(third)
                self._correct(third)

    def _insert(self, many: int) -> None:
        self.arena.db.append("facts", self.arena.spark.sql(self._made(self._next, self._next + many)))
        self._next += many

    def _delete(self, many: int) -> None:
        """The oldest."""
        self.arena.db.sql(f"DELETE FROM facts WHERE id BETWEEN {self._oldest} AND {self._oldest + many - 1}")
        self._oldest += many

    def _correct(self, many: int) -> None:
        """Those in the middle, and from there on to the newest; then those that are the oldest by now."""
        first = self._corrected if self._oldest <= self._corrected <= self._next - many else self._oldest
        change = "SET amount = pmod(amount * 7 + 1, 10000)"
        self.arena.db.sql(f"UPDATE facts {change} WHERE id BETWEEN {first} AND {first + many - 1}")
        self._corrected = first + many

    def _made(self, start: int, end: int) -> str:
        return f"""SELECT id, pmod(xxhash64(id), {self.things}) AS thing, CAST(pmod(hash(id), 1000) AS INT) AS kind,
            pmod(xxhash64(id, 7), 10000) AS amount, concat('fact ', id % 1000) AS note
            FROM range({start}, {end}, 1, 2)"""
