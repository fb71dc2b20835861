"""Queries with groups: every aggregate, FILTER, DISTINCT, HAVING, aggregates over and under joins."""

from __future__ import annotations

from trickle.testing.streams.query import Query

GROUP_QUERIES = (
    Query(
        "counted",
        """SELECT cust, count(*) AS n, count(qty) AS known, sum(qty) AS qty, avg(qty) AS mean, sum(price) AS price
           FROM orders GROUP BY cust""",
        """SELECT cust, count(*) AS n, count(qty) AS known, sum(qty)::BIGINT AS qty, avg(qty) AS mean,
                  sum(price)::DECIMAL(18, 2) AS price
           FROM orders GROUP BY cust""",
    ),
    Query(
        "by_expression",
        """SELECT cust % 3 AS rest, month(day) AS month, count(*) AS n, min(day) AS first, max(note) AS last
           FROM orders GROUP BY cust % 3, month(day)""",
        """SELECT cust % 3 AS rest, month(day)::INT AS month, count(*) AS n, min(day) AS first, max(note) AS last
           FROM orders GROUP BY cust % 3, month(day)""",
    ),
    Query(
        "having_groups",
        "SELECT item, count(*) AS n FROM orders GROUP BY item HAVING count(*) > 4 AND max(qty) >= 6",
    ),
    Query("distinct_rows", "SELECT DISTINCT cust, note FROM orders"),
    Query(
        "distinct_aggregates",
        """SELECT item, count(DISTINCT cust) AS custs, sum(DISTINCT qty) AS qty, avg(DISTINCT qty) AS mean,
                  count(DISTINCT cust, note) AS pairs, approx_count_distinct(note) AS notes
           FROM orders GROUP BY item""",
        """SELECT item, count(DISTINCT cust) AS custs, sum(DISTINCT qty)::BIGINT AS qty, avg(DISTINCT qty) AS mean,
                  count(DISTINCT (cust, note)) FILTER (cust IS NOT NULL AND note IS NOT NULL) AS pairs,
                  count(DISTINCT note) AS notes
           FROM orders GROUP BY item""",
    ),
    Query(
        "spread",
        """SELECT cust, stddev_pop(qty) AS sp, stddev_samp(qty) AS ss, var_pop(price) AS vp, var_samp(price) AS vs,
                  stddev(price) AS s, variance(qty) AS v
           FROM orders GROUP BY cust""",
        rounded=frozenset({"sp", "ss", "vp", "vs", "s", "v"}),
    ),
    Query(
        "spread_of_doubles",
        "SELECT kind, stddev_samp(weight) AS s, var_pop(weight) AS v, avg(weight) AS a FROM items GROUP BY kind",
        rounded=frozenset({"s", "v", "a"}),
    ),
    Query(
        "regression",
        """SELECT item, covar_pop(qty, cust) AS cp, covar_samp(qty, cust) AS cs, corr(qty, cust) AS c,
                  regr_count(qty, cust) AS n, regr_avgx(qty, cust) AS ax, regr_avgy(qty, cust) AS ay,
                  regr_sxx(qty, cust) AS sxx, regr_syy(qty, cust) AS syy, regr_sxy(qty, cust) AS sxy,
                  regr_slope(qty, cust) AS slope, regr_intercept(qty, cust) AS base, regr_r2(qty, cust) AS r2
           FROM orders GROUP BY item""",
        # without spread DuckDB says NaN where Spark says NULL
        """SELECT item, covar_pop(qty, cust) AS cp, covar_samp(qty, cust) AS cs, nullif(corr(qty, cust), 'nan') AS c,
                  regr_count(qty, cust)::BIGINT AS n, regr_avgx(qty, cust) AS ax, regr_avgy(qty, cust) AS ay,
                  regr_sxx(qty, cust) AS sxx, regr_syy(qty, cust) AS syy, regr_sxy(qty, cust) AS sxy,
                  nullif(regr_slope(qty, cust), 'nan') AS slope,
                  nullif(regr_intercept(qty, cust), 'nan') AS base, regr_r2(qty, cust) AS r2
           FROM orders GROUP BY item""",
        rounded=frozenset({"cp", "cs", "c", "ax", "ay", "sxx", "syy", "sxy", "slope", "base", "r2"}),
    ),
    Query(
        "flags_and_bits",
        """SELECT cust, bool_and(qty > 2) AS every, bool_or(qty > 7) AS some, bit_and(qty) AS ands, bit_or(qty) AS ors,
                  bit_xor(qty) AS xors, count_if(qty > 3) AS n
           FROM orders GROUP BY cust""",
        """SELECT cust, bool_and(qty > 2) AS every, bool_or(qty > 7) AS some, bit_and(qty) AS ands, bit_or(qty) AS ors,
                  bit_xor(qty) AS xors, count_if(qty > 3)::BIGINT AS n
           FROM orders GROUP BY cust""",
    ),
    Query(
        "lists",
        """SELECT cust, sort_array(collect_list(qty)) AS every, sort_array(collect_set(note)) AS kinds,
                  sort_array(array_agg(id)) AS ids
           FROM orders GROUP BY cust""",
        """SELECT cust, coalesce(list_sort(list(qty) FILTER (qty IS NOT NULL)), []) AS every,
                  coalesce(list_sort(list(DISTINCT note) FILTER (note IS NOT NULL)), []) AS kinds,
                  list_sort(list(id)) AS ids
           FROM orders GROUP BY cust""",
    ),
    Query(
        "joined_texts",
        """SELECT c.region, listagg(o.note, ', ') WITHIN GROUP (ORDER BY o.note) AS notes,
                  string_agg(c.name, '') WITHIN GROUP (ORDER BY c.name) AS names
           FROM orders o JOIN customers c ON o.cust = c.id GROUP BY c.region""",
        """SELECT c.region, string_agg(o.note, ', ' ORDER BY o.note) AS notes,
                  string_agg(c.name, '' ORDER BY c.name) AS names
           FROM orders o JOIN customers c ON o.cust = c.id GROUP BY c.region""",
    ),
    Query(
        "ordered_sets",
        """SELECT item, median(qty) AS middle, percentile(qty, 0.25) AS low,
                  percentile_cont(0.9) WITHIN GROUP (ORDER BY qty) AS high,
                  percentile_disc(0.5) WITHIN GROUP (ORDER BY qty) AS disc,
                  mode() WITHIN GROUP (ORDER BY cust) AS most
           FROM orders GROUP BY item""",
        """SELECT item, median(qty) AS middle, quantile_cont(qty, 0.25) AS low, quantile_cont(qty, 0.9) AS high,
                  quantile_disc(qty, 0.5)::DOUBLE AS disc,
                  list_sort(map_keys(histogram(cust)) .list_filter(lambda k:
                    histogram(cust)[k] = list_max(map_values(histogram(cust)))))[1] AS most
           FROM orders GROUP BY item""",
        rounded=frozenset({"low", "high"}),
    ),
    Query(
        "extreme_rows",
        """SELECT cust, max_by(qty, id * 100 + qty) AS newest, min_by(note, concat(id, note)) AS oldest
           FROM orders GROUP BY cust""",
        """SELECT cust, max_by(qty, id * 100 + qty) AS newest,
                  min_by(note, CASE WHEN note IS NOT NULL THEN concat(id, note) END) AS oldest
           FROM orders GROUP BY cust""",
    ),
    Query(
        "filter_clauses",
        """SELECT c.vip, count(*) FILTER (WHERE o.qty > 3) AS many,
                  sum(o.qty) FILTER (WHERE o.note = 'amber') AS amber,
                  min(o.price) FILTER (WHERE o.item = 2) AS cheapest,
                  avg(o.qty) FILTER (WHERE c.region = 'east') AS east,
                  count(DISTINCT o.item) FILTER (WHERE o.qty < 5) AS items
           FROM orders o JOIN customers c ON o.cust = c.id GROUP BY c.vip""",
        """SELECT c.vip, count(*) FILTER (WHERE o.qty > 3) AS many,
                  (sum(o.qty) FILTER (WHERE o.note = 'amber'))::BIGINT AS amber,
                  min(o.price) FILTER (WHERE o.item = 2) AS cheapest,
                  avg(o.qty) FILTER (WHERE c.region = 'east') AS east,
                  count(DISTINCT o.item) FILTER (WHERE o.qty < 5) AS items
           FROM orders o JOIN customers c ON o.cust = c.id GROUP BY c.vip""",
    ),
    Query(
        "everything_at_once",
        """SELECT count(*) AS n, sum(qty) AS qty, max(price) AS dearest, min(day) AS first, avg(id) AS mean
           FROM orders WHERE cust = 3""",
        """SELECT count(*) AS n, sum(qty)::BIGINT AS qty, max(price) AS dearest, min(day) AS first, avg(id) AS mean
           FROM orders WHERE cust = 3""",
    ),
    Query(
        "union_distinct",
        "SELECT cust AS id FROM orders UNION SELECT id FROM customers WHERE vip UNION SELECT id FROM items",
    ),
)
