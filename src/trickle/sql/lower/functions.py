"""What is known about functions: which aggregate, and which do not always answer the same."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sqlglot import exp


class Volatility(Enum):
    """Why the same row may get another answer."""

    RANDOM = "random"
    CLOCK = "clock"
    SESSION = "session"
    ORDER = "order"
    """Depends on the order in which rows arrive."""
    DECLARED = "declared"
    """A user's function declared not deterministic."""


@dataclass(frozen=True)
class Volatile:
    """A function of the query whose answer is not settled by its arguments."""

    function: str
    volatility: Volatility
    where: str

    @property
    def reason(self) -> str:
        return _REASONS[self.volatility].format(self.function)


_REASONS = {
    Volatility.RANDOM: "{} answers differently on every call.",
    Volatility.CLOCK: "{} answers differently at every refresh.",
    Volatility.SESSION: "{} depends on who asks.",
    Volatility.ORDER: "{} depends on the order in which rows arrive.",
    Volatility.DECLARED: "{} is declared not deterministic.",
}

_BY_NAME = {
    **dict.fromkeys(
        [
            "rand", "random", "randn", "randstr", "uniform", "uuid", "gen_random_uuid", "shuffle",
            "monotonically_increasing_id", "spark_partition_id", "input_file_name",
            "input_file_block_start", "input_file_block_length", "java_method", "reflect", "try_reflect",
            "aes_encrypt", "array_shuffle",
        ],
        Volatility.RANDOM,
    ),
    **dict.fromkeys(
        [
            "now", "current_timestamp", "current_date", "current_time", "localtimestamp", "localtime",
            "curdate", "getdate", "sysdate", "clock_timestamp", "statement_timestamp", "transaction_timestamp",
            "current_timezone", "timeofday",
        ],
        Volatility.CLOCK,
    ),
    **dict.fromkeys(
        [
            "current_user", "session_user", "user", "current_catalog", "current_database", "current_schema",
            "version", "current_role",
        ],
        Volatility.SESSION,
    ),
    **dict.fromkeys(
        ["first", "first_value", "last", "last_value", "any_value", "collect_list", "array_agg", "string_agg",
         "listagg", "collect_set", "collect_union", "max_by", "min_by", "approx_top_k", "approx_top_k_accumulate",
         "approx_top_k_combine", "histogram_numeric"],
        Volatility.ORDER,
    ),
    **dict.fromkeys(
        ["kll_sketch_agg_bigint", "kll_sketch_agg_double", "kll_sketch_agg_float", "kll_merge_agg_bigint",
         "kll_merge_agg_double", "kll_merge_agg_float"],
        Volatility.RANDOM,
    ),
}  # fmt: skip

_BY_CLASS: dict[type[exp.Expr], Volatility] = {
    exp.Rand: Volatility.RANDOM,
    exp.Randn: Volatility.RANDOM,
    exp.Uuid: Volatility.RANDOM,
    exp.CurrentTimestamp: Volatility.CLOCK,
    exp.CurrentDate: Volatility.CLOCK,
    exp.CurrentTime: Volatility.CLOCK,
    exp.CurrentDatetime: Volatility.CLOCK,
    exp.Localtimestamp: Volatility.CLOCK,
    exp.Localtime: Volatility.CLOCK,
    exp.CurrentUser: Volatility.SESSION,
    exp.CurrentSchema: Volatility.SESSION,
    exp.First: Volatility.ORDER,
    exp.Last: Volatility.ORDER,
    exp.AnyValue: Volatility.ORDER,
    exp.ArrayAgg: Volatility.ORDER,
    exp.ArrayUniqueAgg: Volatility.ORDER,
    exp.GroupConcat: Volatility.ORDER,
    exp.Mode: Volatility.ORDER,
    exp.ApproxQuantile: Volatility.ORDER,
}

_AGGREGATES = frozenset(
    [
        "any", "every", "some", "try_sum", "try_avg", "bool_and", "bool_or", "bit_and", "bit_or",
        "bit_xor", "count_if", "mean", "std", "variance", "histogram_numeric", "percentile",
        "percentile_cont", "percentile_disc", "percentile_approx", "approx_percentile",
        "approx_count_distinct", "count_min_sketch", "bitmap_construct_agg", "bitmap_or_agg",
        "hll_sketch_agg", "hll_union_agg", "theta_sketch_agg", "kll_sketch_agg_bigint",
        "kll_sketch_agg_double", "kll_sketch_agg_float", "approx_top_k", "max_by", "min_by", "mode",
        "median", "regr_count", "regr_avgx", "regr_avgy", "regr_sxx", "regr_syy", "regr_sxy",
        "regr_slope", "regr_intercept", "regr_r2", "kurtosis", "skewness", "listagg", "string_agg",
        "collect_set", "collect_list", "array_agg", "first", "last", "first_value", "last_value",
        "any_value", "approx_top_k_accumulate", "approx_top_k_combine", "bitmap_and_agg", "collect_union",
        "kll_merge_agg_bigint", "kll_merge_agg_double", "kll_merge_agg_float", "schema_of_variant_agg",
        "theta_intersection_agg", "theta_union_agg", "tuple_intersection_agg_double",
        "tuple_intersection_agg_integer", "tuple_sketch_agg_double", "tuple_sketch_agg_integer",
        "tuple_union_agg_double", "tuple_union_agg_integer",
    ]
)  # fmt: skip

_READING_DAYS = (exp.Cast, exp.Date, exp.Timestamp, exp.TsOrDsToDate, exp.StrToDate, exp.StrToTime)
_READING_DAYS_TOO = (
    "date_format", "date_sub", "date_trunc", "from_utc_timestamp", "to_date", "to_timestamp", "to_unix_timestamp",
    "to_utc_timestamp", "trunc", "try_to_date", "try_to_timestamp", "unix_timestamp",
)  # fmt: skip
_DAYS = ("now", "today", "tomorrow", "yesterday")
_WRAPPERS = (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)


def function_name(node: exp.Expr) -> str:
    """How the function is called in a query.

    >>> function_name(exp.Anonymous(this="My_Fn"))
    'my_fn'
    """
    if isinstance(node, exp.Anonymous):
        return node.name.casefold()
    return node.sql_name().casefold() if isinstance(node, exp.Func) else type(node).__name__.casefold()


def is_aggregate(node: exp.Expr, user: frozenset[str] = frozenset()) -> bool:
    """Is this a whole aggregate call, with its FILTER or WITHIN GROUP if it has one?"""
    if isinstance(node, _WRAPPERS):
        return is_aggregate(node.this, user)
    if isinstance(node, exp.Anonymous):
        name = node.name.casefold()
        return name in _AGGREGATES or (name in user and node.find(exp.Window) is None)
    return isinstance(node, exp.AggFunc)


_OTHER_NAMES: dict[str, type[exp.Expr]] = {"any": exp.LogicalOr, "some": exp.LogicalOr, "every": exp.LogicalAnd}


def by_one_name(node: exp.Anonymous) -> exp.Expr:
    """bool_or() and bool_and() where they are called otherwise: rules know them by one name."""
    known = _OTHER_NAMES.get(function_name(node))
    return known(this=node.expressions[0].copy()) if known and len(node.expressions) == 1 else node


def volatility(node: exp.Expr) -> Volatility | None:
    """Why a function call is not settled by its arguments; None when it is."""
    if _takes_order(node) and _ordered(node):
        return None
    if type(node) in _BY_CLASS:
        return _BY_CLASS[type(node)]
    if _names_a_day(node) or (function_name(node) == "unix_timestamp" and not node.find(exp.Column, exp.Literal)):
        return Volatility.CLOCK
    found = _BY_NAME.get(function_name(node))
    return found if isinstance(node, exp.Anonymous) or found is not Volatility.ORDER else None


def _takes_order(node: exp.Expr) -> bool:
    known = isinstance(node, exp.ArrayAgg | exp.GroupConcat | exp.First | exp.Last | exp.Mode)
    return known or function_name(node) in ("listagg", "string_agg")


def _names_a_day(node: exp.Expr) -> bool:
    """DATE 'today', CAST('now' AS TIMESTAMP), to_date('yesterday') and their like: Spark reads them by the clock."""
    if isinstance(node, exp.Cast) and not node.to.is_type(*exp.DataType.TEMPORAL_TYPES):
        return False
    said = node.this if isinstance(node, _READING_DAYS) else None
    if isinstance(node, exp.Anonymous) and node.name.casefold() in _READING_DAYS_TOO:
        return any(_is_day(argument) for argument in node.expressions)
    return _is_day(said)


def _is_day(said: object) -> bool:
    return isinstance(said, exp.Literal) and said.is_string and said.name.strip().casefold().split(" ")[0] in _DAYS


def _ordered(node: exp.Expr) -> bool:
    inside = any(isinstance(child, exp.Order) for child in node.iter_expressions())
    if isinstance(node, exp.Mode):
        inside = node.args.get("deterministic") == exp.true()
    around = node.parent.parent if isinstance(node.parent, exp.Filter) else node.parent
    return inside or isinstance(around, exp.WithinGroup | exp.Window | exp.ArraySort)
