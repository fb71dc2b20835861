"""Functions of Spark that sqlglot would not write back as it read them: they are kept as they were written."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

Builder = Callable[[list[exp.Expr]], exp.Expr]

KEPT = (
    "array_size", "collate", "date_format", "date_sub", "date_trunc", "from_unixtime", "from_utc_timestamp",
    "get_json_object", "ilike", "instr", "levenshtein", "like", "listagg", "log", "log10", "log2", "ltrim",
    "max_by", "min_by", "parse_json", "percentile", "regexp_extract", "regexp_extract_all", "regexp_like", "rlike",
    "rtrim", "space", "str_to_map", "string_agg", "time_diff", "time_trunc", "to_char", "to_date", "to_timestamp",
    "to_unix_timestamp", "to_utc_timestamp", "trunc", "unix_date", "unix_timestamp", "uuid",
)  # fmt: skip
"""sqlglot drops an argument of these, adds one, takes a column for a word, or rewrites a format or a path."""


def kept(name: str) -> Builder:
    """A call as it was written, its name in one case: the same call is the same expression."""

    def build(arguments: list[exp.Expr]) -> exp.Expr:
        return exp.Anonymous(this=name.upper(), expressions=arguments)

    return build


def named_struct(arguments: list[exp.Expr]) -> exp.Expr:
    """`struct(x AS name, …)` where the names are written out."""
    names = arguments[::2]
    if len(arguments) % 2 or not all(isinstance(name, exp.Literal) and name.is_string for name in names):
        return kept("named_struct")(arguments)
    fields = zip(names, arguments[1::2], strict=True)
    named = [exp.PropertyEQ(this=exp.to_identifier(name.name), expression=value) for name, value in fields]
    return exp.Struct(expressions=named)


def with_nulls(name: str, function: type[exp.Expr]) -> Builder:
    """`first(x, true)` passes over NULLs; any other second argument is kept."""

    def build(arguments: list[exp.Expr]) -> exp.Expr:
        if len(arguments) == 1:
            return function(this=arguments[0])
        if arguments[1:] == [exp.true()]:
            return exp.IgnoreNulls(this=function(this=arguments[0]))
        return kept(name)(arguments)

    return build


BUILDERS: dict[str, Builder] = {
    **{name.upper(): kept(name) for name in KEPT},
    "NAMED_STRUCT": named_struct,
    "ANY_VALUE": with_nulls("any_value", exp.AnyValue),
    "FIRST": with_nulls("first", exp.First),
    "FIRST_VALUE": with_nulls("first_value", exp.FirstValue),
    "LAST": with_nulls("last", exp.Last),
    "LAST_VALUE": with_nulls("last_value", exp.LastValue),
}
