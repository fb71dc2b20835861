"""Random queries as SQL text over a random schema with random changes; a seed is all three.

    types          families of types, a few values each
    writer         chance, names, what is in sight
    expressions    values and conditions          aggregates, windows    calls
    sources        FROM and joins                 reshaping              explode, PIVOT, UNPIVOT
    subqueries     values and conditions          blocks                 SELECTs
    compose        set operations, CTEs           stories                tables and what happens to them
    recursions     WITH RECURSIVE                 rounds                 how DuckDB follows them
    cases          seeds                          law, kept, on_spark    the judges
    metamorphic    other ways to say the same

One text is judged by both engines, each by its own answers, so it says only what has one answer in each:

* what counts rows, and every LIMIT, orders by all that could tell rows apart;
* doubles are few halves and quarters, so that sums do not depend on the order; averages are compared, never added;
* nothing divides by a column, overflows, or negates a double (a zero may have a sign);
* on Spark, texts with LIMIT 1 or 2 or with grouping sets are judged by their plan's answer, not by Spark's own to the
  text: Spark 4.3 takes a NULL in spite of NULLS LAST in some correlated subqueries, and has no grand total of nothing;
* names have an alias before them: DuckDB prefers a name of the select list in GROUP BY, HAVING and QUALIFY;
* days are cast to DATE where DuckDB would make them moments;
* PIVOT, UNPIVOT and LATERAL VIEW are written for DuckDB in other words (`Writer.wordings`).
"""
