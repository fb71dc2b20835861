"""Words that PostgreSQL and Spark both have and mean differently, said in Spark's way or refused."""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from trickle.errors import QueryError

_PLAIN_FORMAT = re.compile(r"(?:%[YmdHMS]|[^A-Za-z%])*")


def with_words_of_spark(tree: exp.Expr) -> exp.Expr:
    """The tree in words that mean to Spark what PostgreSQL's mean."""
    for node in reversed(list(tree.walk())):
        meant = _WORDS[type(node)](node) if type(node) in _WORDS else node
        if meant is node:
            continue
        if node is tree:
            return meant
        node.replace(meant)
    return tree


def _refused(node: exp.Expr, detail: str, hint: str) -> QueryError:
    written = node.sql("postgres")
    return QueryError(f"{written} means something else in Spark SQL", detail=detail, hint=hint)


def _log(node: exp.Expr) -> exp.Expr:
    """log(x) is to base 10, where Spark's is natural; log(10, x) as a quotient is not exact."""
    base, x = (node.this, node.expression) if node.args.get("expression") else (None, node.this)
    if base is None or (isinstance(base, exp.Literal) and base.name == "10"):
        return exp.Anonymous(this="LOG10", expressions=[x.copy()])
    return node


def _extract(node: exp.Expr) -> exp.Expr:
    """dow counts from Sunday as 0, where Spark's counts from 1."""
    part = node.this.name.upper()
    if part not in ("DOW", "ISODOW"):
        return node
    iso = exp.Extract(this=exp.var("DAYOFWEEK_ISO"), expression=node.expression.copy())
    return iso if part == "ISODOW" else exp.Paren(this=exp.Mod(this=iso, expression=exp.Literal.number(7)))


def _regexp_replace(node: exp.Expr) -> exp.Expr:
    """Without 'g' only the first match is replaced; Spark replaces all, and calls groups $1."""
    flags, replacement = node.args.get("modifiers"), node.args.get("replacement")
    if flags is None or flags.name != "g":
        raise _refused(node, "Spark replaces every match.", "add the flag 'g', or write the query in Spark SQL.")
    if not isinstance(replacement, exp.Literal) or {"\\", "$"} & set(replacement.name):
        raise _refused(node, "Spark names groups of a replacement differently.", "write the query in Spark SQL.")
    return node


def _left(node: exp.Expr) -> exp.Expr:
    """left(s, -n): all but the last n."""
    rest = exp.Substring(
        this=node.this.copy(),
        start=exp.Literal.number(1),
        length=exp.Add(this=exp.Length(this=node.this.copy()), expression=exp.Paren(this=node.expression.copy())),
    )
    return _where_negative(node, rest)


def _right(node: exp.Expr) -> exp.Expr:
    """right(s, -n): all but the first n."""
    start = exp.Sub(this=exp.Literal.number(1), expression=exp.Paren(this=node.expression.copy()))
    return _where_negative(node, exp.Substring(this=node.this.copy(), start=start))


def _where_negative(node: exp.Expr, rest: exp.Expr) -> exp.Expr:
    if isinstance(node.expression, exp.Literal):
        return node
    negative = exp.LT(this=exp.Paren(this=node.expression.copy()), expression=exp.Literal.number(0))
    return exp.Case(ifs=[exp.If(this=negative, true=rest)], default=node.copy())


def _trunc(node: exp.Expr) -> exp.Expr:
    if node.args.get("decimals") is not None:
        raise _refused(node, "Spark has no trunc() to decimal places.", "write floor(x * 10) / 10.0, or alike.")
    return node


def _initcap(node: exp.Expr) -> exp.Expr:
    raise _refused(node, "Spark begins words after spaces only.", "write the query in Spark SQL.")


def _format(node: exp.Expr) -> exp.Expr:
    """Formats that are made of YYYY, MM, DD, HH24, MI and SS mean the same."""
    format = node.args.get("format")
    if isinstance(format, exp.Literal) and _PLAIN_FORMAT.fullmatch(format.name) and "%" in format.name:
        return node
    raise _refused(
        node,
        "only YYYY, MM, DD, HH24, MI and SS are written the same way in both.",
        "write the query in Spark SQL, with date_format() or format_number().",
    )


def _seconds(node: exp.Expr) -> exp.Expr:
    """to_timestamp(seconds) keeps fractions."""
    return exp.Anonymous(this="TIMESTAMP_SECONDS", expressions=[node.this.copy()])


_WORDS: dict[type[exp.Expr], Callable[[exp.Expr], exp.Expr]] = {
    exp.Log: _log,
    exp.Extract: _extract,
    exp.RegexpReplace: _regexp_replace,
    exp.Left: _left,
    exp.Right: _right,
    exp.Trunc: _trunc,
    exp.Initcap: _initcap,
    exp.TimeToStr: _format,
    exp.StrToDate: _format,
    exp.StrToTime: _format,
    exp.ToNumber: _format,
    exp.UnixToTime: _seconds,
}
