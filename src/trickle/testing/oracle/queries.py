"""Random queries: every relation has the columns k, v, s, so that any may stand inside any other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from trickle.testing.oracle.history import TABLES


@dataclass
class Generator:
    """Writes queries; `random` decides, so that a failure can be replayed or shrunk."""

    random: Random
    only: tuple[str, ...] = ()
    """Constructs to choose from, all when empty."""
    used: list[str] = field(default_factory=list)
    aliases: int = 0

    def query(self, depth: int) -> str:
        """A SELECT of k, v, s with at most `depth` operators above each other."""
        if depth == 0:
            return f"SELECT k, v, s FROM {self.random.choice(TABLES)}"
        name = self.random.choice(self.only or tuple(CONSTRUCTS))
        self.used.append(name)
        return CONSTRUCTS[name](self, depth - 1)

    def relation(self, depth: int) -> str:
        if depth == 0 or self.random.random() < 0.3:
            return f"{self.random.choice(TABLES)} AS {self.alias()}"
        return f"({self.query(self.random.randint(1, depth))}) AS {self.alias()}"

    def alias(self) -> str:
        self.aliases += 1
        return f"q{self.aliases}"

    def last(self) -> str:
        return f"q{self.aliases}"

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def number(self, alias: str = "") -> str:
        dot = f"{alias}." if alias else ""
        return self.pick(
            f"{dot}k",
            f"{dot}v",
            f"{dot}v",
            f"{dot}k + {dot}v",
            f"coalesce({dot}v, 0)",
            f"CASE WHEN {dot}v > 0 THEN {dot}k ELSE -1 END",
            f"length({dot}s)",
        )

    def word(self, alias: str = "") -> str:
        dot = f"{alias}." if alias else ""
        return self.pick(f"{dot}s", f"{dot}s", f"upper({dot}s)", f"CASE WHEN {dot}k > 0 THEN {dot}s END")

    def condition(self, alias: str = "") -> str:
        dot = f"{alias}." if alias else ""
        return self.pick(
            f"{dot}v > 0",
            f"{dot}k = 1",
            f"{dot}k IS NOT NULL",
            f"{dot}v IS NULL OR {dot}k < 2",
            f"{dot}s IN ('x', '')",
            f"NOT ({dot}v <= 1)",
            f"{dot}k BETWEEN 0 AND 2",
        )

    def link(self, left: str, right: str) -> str:
        """A join condition: mostly equality, sometimes with or only something else."""
        return self.pick(
            f"{left}.k = {right}.k",
            f"{left}.k = {right}.k",
            f"{left}.k = {right}.v",
            f"{left}.k = {right}.k AND {left}.v < {right}.v",
            f"{left}.k <=> {right}.k AND {left}.s = {right}.s",
            f"{left}.k < {right}.k AND {left}.s = {right}.s",
            f"{left}.k = {right}.k AND {left}.v > 0",
            f"{left}.k = {right}.k OR {left}.s IS NULL AND {right}.s IS NULL",
        )

    def aggregate(self) -> str:
        call = self.pick(
            "count(*)",
            "count(v)",
            "sum(v)",
            "sum(k + v)",
            "min(v)",
            "max(v)",
            "max(length(s))",
            "count(DISTINCT v)",
            "sum(DISTINCT v)",
            "bit_xor(v)",
            "median(v)",
            "avg(v)",
        )
        return call + (f" FILTER (WHERE {self.condition()})" if self.random.random() < 0.25 else "")


AGGREGATES = (
    "count(*)",
    "count(v)",
    "count(*) FILTER (WHERE v > 0)",
    "count_if(v > 0)",
    "sum(v)",
    "sum(v) FILTER (WHERE s = 'x')",
    "sum(CAST(v AS DOUBLE))",
    "sum(CAST(v AS DECIMAL(12, 2)))",
    "sum(CASE WHEN v = 5 THEN CAST('NaN' AS DOUBLE) ELSE CAST(v AS DOUBLE) END)",
    "avg(v)",
    "avg(CAST(v AS DOUBLE) / 3)",
    "min(v)",
    "max(v)",
    "min(s)",
    "max(s)",
    "max(v) FILTER (WHERE k > 0)",
    "bool_and(v > 0)",
    "bool_or(v > 0)",
    "bit_and(v)",
    "bit_or(v)",
    "bit_xor(v)",
    "var_pop(v)",
    "var_samp(v)",
    "stddev_pop(v)",
    "stddev(CAST(v AS DECIMAL(12, 2)))",
    "var_pop(CAST(v AS DECIMAL(12, 2)) * 0.125)",
    "sum(CAST(v AS DECIMAL(12, 2)) + CASE WHEN v = 5 THEN CAST('NaN' AS DOUBLE) ELSE CAST(v AS DOUBLE) END)",
    "covar_pop(v, k)",
    "covar_samp(v, k)",
    "corr(v, k)",
    "regr_count(v, k)",
    "regr_avgx(v, k)",
    "regr_avgy(v, k)",
    "regr_sxx(v, k)",
    "regr_syy(v, k)",
    "regr_sxy(v, k)",
    "regr_slope(v, k)",
    "regr_intercept(v, k)",
    "regr_r2(v, k)",
    "count(DISTINCT v)",
    "sum(DISTINCT v)",
    "median(v)",
    "kurtosis(v)",
)


def aggregate_query(random: Random, aggregates: tuple[str, ...] = AGGREGATES) -> str:
    """A query with an aggregate, a DISTINCT or a UNION on top: what a stream table stores with state."""
    g = Generator(random)
    source = g.relation(random.choice((0, 0, 0, 1, 2)))
    kind = random.random()
    if kind < 0.1:
        return f"SELECT DISTINCT k + 1 AS k, s FROM {source}"
    if kind < 0.15:
        return f"SELECT k, s FROM {source} UNION SELECT v, s FROM b"
    keys = random.choice(("k", "k, s", "k % 2", "length(s), k", "s", ""))
    calls = random.sample(aggregates, min(len(aggregates), random.randint(1, 4)))
    items = [f"{call} AS x{n}" for n, call in enumerate(calls)]
    if keys and random.random() < 0.7:
        items = [f"{key} AS g{n}" for n, key in enumerate(keys.split(", "))] + items
    having = random.choice(("", "", " HAVING count(*) > 1", " HAVING sum(v) > 0"))
    group = f" GROUP BY {keys}" if keys else ""
    return f"SELECT {', '.join(items)} FROM {source}{group}{having}"


def _project(g: Generator, depth: int) -> str:
    where = f" WHERE {g.condition()}" if g.random.random() < 0.6 else ""
    return f"SELECT {g.number()} AS k, {g.number()} AS v, {g.word()} AS s FROM {g.relation(depth)}{where}"


def _join(kind: str) -> Callable[[Generator, int], str]:
    def write(g: Generator, depth: int) -> str:
        left, x = g.relation(depth), g.last()
        right, y = g.relation(depth - 1 if depth else 0), g.last()
        items = f"{g.pick(x, y)}.k AS k, {g.pick(x, y)}.v AS v, {g.pick(x, y)}.s AS s"
        if kind in ("LEFT SEMI", "LEFT ANTI"):
            items = f"{x}.k, {x}.v, {x}.s"
        if kind == "CROSS":
            return f"SELECT {items} FROM {left} CROSS JOIN {right} WHERE {g.link(x, y)}"
        if g.random.random() < 0.15 and kind not in ("LEFT SEMI", "LEFT ANTI"):
            return f"SELECT k, {g.pick(x, y)}.v AS v, {g.pick(x, y)}.s AS s FROM {left} {kind} JOIN {right} USING (k)"
        return f"SELECT {items} FROM {left} {kind} JOIN {right} ON {g.link(x, y)}"

    return write


def _three_way(g: Generator, depth: int) -> str:
    first, x = g.relation(depth), g.last()
    second, y = g.relation(0), g.last()
    third, z = g.relation(0), g.last()
    on = f"{x}.k = {y}.k JOIN {third} ON {g.pick(x, y)}.v = {z}.v"
    return f"SELECT {x}.k AS k, {y}.v AS v, {z}.s AS s FROM {first} JOIN {second} ON {on}"


def _aggregate(g: Generator, depth: int) -> str:
    key = g.pick("k", "k % 2", "v", "length(s)")
    having = g.pick("", "", " HAVING count(*) > 1", " HAVING sum(v) > 0", " HAVING max(v) = 1")
    value = f"CAST({g.aggregate()} AS INT) AS v"
    return f"SELECT {key} AS k, {value}, max(s) AS s FROM {g.relation(depth)} GROUP BY {key}{having}"


def _aggregate_two_keys(g: Generator, depth: int) -> str:
    return f"SELECT k, CAST({g.aggregate()} AS INT) AS v, s FROM {g.relation(depth)} GROUP BY 1, s"


def _global(g: Generator, depth: int) -> str:
    items = f"CAST({g.aggregate()} AS INT) AS k, CAST({g.aggregate()} AS INT) AS v, min(s) AS s"
    return f"SELECT {items} FROM {g.relation(depth)}"


def _distinct(g: Generator, depth: int) -> str:
    return f"SELECT DISTINCT k, {g.number()} AS v, s FROM {g.relation(depth)}"


def _set_operation(word: str) -> Callable[[Generator, int], str]:
    def write(g: Generator, depth: int) -> str:
        left = f"SELECT k, v, s FROM {g.relation(depth)}"
        right = f"SELECT {g.pick('k', 'v')}, v, {g.word()} FROM {g.relation(depth - 1 if depth else 0)}"
        return f"{left} {word} {right}"

    return write


def _subquery_condition(g: Generator, depth: int) -> str:
    outer, o = g.relation(depth), g.last()
    inner, i = g.relation(depth - 1 if depth else 0), g.last()
    condition = g.pick(
        f"{o}.k IN (SELECT v FROM {inner})",
        f"{o}.k NOT IN (SELECT v FROM {inner})",
        f"{o}.k NOT IN (SELECT v FROM {inner} WHERE {i}.s = {o}.s)",
        f"EXISTS (SELECT 1 FROM {inner} WHERE {i}.k = {o}.k)",
        f"NOT EXISTS (SELECT 1 FROM {inner} WHERE {i}.k = {o}.k AND {i}.v > {o}.v)",
        f"EXISTS (SELECT 1 FROM {inner} WHERE {i}.v < 0)",
        f"({o}.k, {o}.s) IN (SELECT k, s FROM {inner})",
        f"{o}.v > (SELECT avg(v) FROM {inner})",
        f"{o}.v = (SELECT max(v) FROM {inner} WHERE {i}.k = {o}.k)",
        f"0 < (SELECT count(*) FROM {inner} WHERE {i}.k = {o}.k)",
        f"0 = (SELECT count(*) FROM {inner} WHERE {i}.k = {o}.k)",
        f"{o}.v > 1 OR EXISTS (SELECT 1 FROM {inner} WHERE {i}.k = {o}.k)",
        f"{o}.v > 1 OR {o}.k IN (SELECT v FROM {inner})",
        f"{o}.v > 1 OR {o}.k NOT IN (SELECT v FROM {inner} WHERE {i}.s = {o}.s)",
    )
    return f"SELECT {o}.k, {o}.v, {o}.s FROM {outer} WHERE {condition}"


def _subquery_value(g: Generator, depth: int) -> str:
    outer, o = g.relation(depth), g.last()
    inner, i = g.relation(depth - 1 if depth else 0), g.last()
    value = g.pick(
        f"(SELECT CAST(sum(v) AS INT) FROM {inner} WHERE {i}.k = {o}.k)",
        f"(SELECT CAST(count(*) AS INT) FROM {inner} WHERE {i}.k = {o}.k)",
        f"(SELECT max(v) FROM {inner})",
        f"(SELECT max(v) + CAST(count(v) AS INT) FROM {inner} WHERE {i}.s = {o}.s)",
    )
    return f"SELECT {o}.k, {value} AS v, {o}.s FROM {outer}"


def _window(g: Generator, depth: int) -> str:
    source, q = g.relation(depth), g.last()
    over = g.pick(f"PARTITION BY {q}.k", f"PARTITION BY {q}.s, {q}.k", f"PARTITION BY {q}.k % 2", "")
    order = f"ORDER BY {q}.v, {q}.s, {q}.k"
    call = g.pick(
        f"row_number() OVER ({over} {order})",
        f"rank() OVER ({over} ORDER BY {q}.v)",
        f"dense_rank() OVER ({over} ORDER BY {q}.s)",
        f"CAST(sum({q}.v) OVER ({over}) AS INT)",
        f"CAST(sum({q}.v) OVER ({over} {order} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS INT)",
        f"lag({q}.v) OVER ({over} {order})",
        f"CAST(count(*) OVER ({over} ORDER BY {q}.v) AS INT)",
    )
    # DuckDB's QUALIFY would take k, v, s for the select list's
    qualify = f" QUALIFY row_number() OVER ({over} {order}) <= 2" if g.random.random() < 0.2 else ""
    return f"SELECT {q}.k, {call} AS v, {q}.s FROM {source}{qualify}"


def _top(g: Generator, depth: int) -> str:
    order = g.pick("v DESC, k, s", "k, v, s", "s DESC NULLS LAST, k, v DESC")
    offset = g.pick("", "", " OFFSET 1")
    return f"SELECT k, v, s FROM {g.relation(depth)} ORDER BY {order} LIMIT {g.pick('1', '2', '4')}{offset}"


def _shared(g: Generator, depth: int) -> str:
    inner = g.query(depth) if depth else f"SELECT k, v, s FROM {g.random.choice(TABLES)}"
    name = g.alias()
    return f"WITH {name} AS ({inner}) SELECT x.k, y.v, x.s FROM {name} x JOIN {name} y ON x.k = y.k AND x.v <= y.v"


def _grouping(g: Generator, depth: int) -> str:
    form = g.pick("ROLLUP (k, s)", "CUBE (k, s)", "GROUPING SETS ((k), (s), ())", "GROUPING SETS ((k, s), (k))")
    value = g.pick("count(*)", "sum(v)", "grouping_id(k, s)", "grouping(k)")
    return f"SELECT k, CAST({value} AS INT) AS v, s FROM {g.relation(depth)} GROUP BY {form}"


def _generate(g: Generator, depth: int) -> str:
    items = g.pick("array(k, v)", "array(v)", "array(1, k, NULL)")
    return f"SELECT k, e AS v, s FROM {g.relation(depth)} LATERAL VIEW explode({items}) x AS e"


def _values(g: Generator, depth: int) -> str:
    rows = g.pick("(1, 2, 'x')", "(1, NULL, 'x'), (0, 5, NULL)", "(NULL, NULL, NULL)")
    return f"SELECT k, v, s FROM {g.relation(depth)} UNION ALL VALUES {rows}"


CONSTRUCTS: dict[str, Callable[[Generator, int], str]] = {
    "project": _project,
    "inner join": _join("INNER"),
    "cross join": _join("CROSS"),
    "left join": _join("LEFT"),
    "right join": _join("RIGHT"),
    "full join": _join("FULL"),
    "semi join": _join("LEFT SEMI"),
    "anti join": _join("LEFT ANTI"),
    "three-way join": _three_way,
    "aggregate": _aggregate,
    "two keys": _aggregate_two_keys,
    "global aggregate": _global,
    "distinct": _distinct,
    "union all": _set_operation("UNION ALL"),
    "union": _set_operation("UNION"),
    "intersect": _set_operation("INTERSECT"),
    "intersect all": _set_operation("INTERSECT ALL"),
    "except": _set_operation("EXCEPT"),
    "except all": _set_operation("EXCEPT ALL"),
    "subquery condition": _subquery_condition,
    "subquery value": _subquery_value,
    "window": _window,
    "top": _top,
    "shared": _shared,
    "grouping sets": _grouping,
    "generate": _generate,
    "values": _values,
}
