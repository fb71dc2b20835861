"""Random subqueries that read the query around them: as values, as conditions, in FROM."""

from __future__ import annotations

from random import Random

_OUTER = ("a", "a", "(SELECT DISTINCT k, v, s FROM a)", "(SELECT x.k, y.v, x.s FROM a x JOIN b y ON x.k = y.k)")
ORDER = "i.v DESC NULLS LAST, i.k NULLS FIRST, i.s NULLS FIRST"


def correlated_query(random: Random) -> str:
    """A query with one or two correlated subqueries of any shape."""
    writer = _Writer(random)
    kind = random.random()
    outer = random.choice(_OUTER)
    if kind < 0.35:
        return f"SELECT o.k, o.s, {writer.value()} AS v FROM {outer} o"
    if kind < 0.7:
        return f"SELECT o.k, o.v, o.s FROM {outer} o WHERE {writer.condition()}"
    return writer.lateral(outer)


class _Writer:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.inner = self.pick("b", "c", "a")

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def tie(self) -> str:
        return self.pick(
            "i.k = o.k",
            "i.k = o.k AND i.v = o.v",
            "i.k = o.k AND i.v < o.v",
            "i.v > o.v",
            "i.k <> o.k",
            "i.k <=> o.k",
            "(i.k = o.k OR i.s = o.s)",
            "i.k + i.v = o.v",
            "i.k = o.k AND EXISTS (SELECT 1 FROM c j WHERE j.k = i.v)",
        )

    def value(self) -> str:
        source = f"FROM {self.inner} i WHERE {self.tie()}"
        return self.pick(
            f"(SELECT count(*) {source})",
            f"(SELECT CAST(sum(i.v) AS INT) {source})",
            f"(SELECT max(i.v) {source} HAVING count(*) > 1)",
            f"(SELECT min(i.v + o.k) {source})",
            f"(SELECT count(DISTINCT i.s) {source})",
            f"(SELECT i.v {source} ORDER BY {ORDER} LIMIT 1)",
            f"(SELECT i.s {source} ORDER BY {ORDER} LIMIT 1 OFFSET 1)",
            f"EXISTS (SELECT 1 {source})",
            f"o.v {self.comparison()} {self.pick('ANY', 'ALL')} (SELECT i.v {source})",
            f"coalesce((SELECT max(i.v) {source}), -9)",
        )

    def condition(self) -> str:
        source = f"FROM {self.inner} i WHERE {self.tie()}"
        bare = self.pick(
            f"EXISTS (SELECT 1 {source})",
            f"NOT EXISTS (SELECT i.s {source} GROUP BY i.s HAVING count(*) > 1)",
            f"o.v IN (SELECT i.v {source})",
            f"o.v NOT IN (SELECT i.v {source})",
            f"o.v IN (SELECT i.v {source} ORDER BY {ORDER} LIMIT 2)",
            f"o.v {self.comparison()} {self.pick('ANY', 'ALL')} (SELECT i.v {source})",
            f"o.v = (SELECT max(i.v) {source})",
            f"1 < (SELECT count(*) {source})",
        )
        return self.pick(bare, bare, f"o.k = 1 OR {bare}", f"NOT ({bare})")

    def lateral(self, outer: str) -> str:
        source = f"FROM {self.inner} i WHERE {self.tie()}"
        inside = self.pick(
            f"SELECT count(*) AS x {source}",
            f"SELECT CAST(sum(i.v) AS INT) AS x {source}",
            f"SELECT i.v AS x {source} ORDER BY {ORDER} LIMIT 2",
            f"SELECT i.s AS x {source} GROUP BY i.s",
            f"SELECT DISTINCT i.v AS x {source}",
            f"SELECT i.v + o.v AS x {source}",
            f"SELECT i.v AS x {source} UNION ALL SELECT o.v",
            f"SELECT rank() OVER (ORDER BY i.v) AS x {source}",
        )
        join = self.pick(f", LATERAL ({inside}) t", f" LEFT JOIN LATERAL ({inside}) t ON TRUE")
        return f"SELECT o.k, o.v, t.x FROM {outer} o{join}"

    def comparison(self) -> str:
        return self.pick("=", "<>", "<", "<=", ">", ">=")
