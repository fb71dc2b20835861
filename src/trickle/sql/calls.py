"""Calls of user-defined functions in a text for Spark: SQL ones written out, Python ones by the name Spark knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trickle.errors import QueryError
from trickle.plan.functions import Function, Functions, Kind
from trickle.sql.grammar.cursor import Cursor
from trickle.sql.grammar.lexer import Token, identifier_value, lex
from trickle.sql.names import quote_spark


def called(text: str) -> frozenset[str]:
    """The names of what a text calls, in lower case.

    >>> sorted(called("SELECT f(x), t.g(1) FROM t WHERE `Odd`(2) = h"))
    ['f', 'odd']
    """
    tokens = lex(text)
    return frozenset(_name(tokens[n]) for n in range(len(tokens)) if _is_call(tokens, n))


def expanded(text: str, functions: Functions) -> str:
    """The text with the calls of these functions as Spark understands them.

    >>> from trickle.plan.functions import Parameter
    >>> twice = Function("twice", Kind.SQL, (Parameter("x", "INT"),), "INT", "x + x", True)
    >>> expanded("SELECT twice(a) AS n FROM t", {"twice": twice})
    'SELECT CAST((CAST((a) AS INT) + CAST((a) AS INT)) AS INT) AS n FROM t'
    """
    return _Expansion(Cursor(text), functions).whole() if functions else text


def require_arguments(function: Function, given: int) -> None:
    """A SQL function is called with as many arguments as it has parameters."""
    if function.kind is Kind.SQL and given != len(function.parameters):
        raise QueryError(
            f"{function.name}() was called with {given} arguments",
            detail=f"it has {len(function.parameters)}: {', '.join(p.name for p in function.parameters)}.",
            hint="give each parameter one argument.",
        )


@dataclass
class _Expansion:
    cursor: Cursor
    functions: Functions

    def whole(self) -> str:
        text, tokens = self.cursor.text, self.cursor.tokens
        last = len(tokens) - 1
        return text[: tokens[0].start] + self.piece(0, last) + text[tokens[last - 1].end :] if last else text

    def piece(self, first: int, last: int) -> str:
        """The tokens from `first` up to `last`, as they stand, calls replaced."""
        tokens, text = self.cursor.tokens, self.cursor.text
        if first >= last:
            return ""
        parts, at, index = [], tokens[first].start, first
        while index < last:
            function = self.functions.get(_name(tokens[index])) if _is_call(tokens, index) else None
            if function is None:
                index += 1
                continue
            end, new = self.call(function, index + 1)
            parts += [text[at : tokens[index].start], new]
            at, index = tokens[end - 1].end, end
        return "".join((*parts, text[at : tokens[last - 1].end]))

    def call(self, function: Function, opening: int) -> tuple[int, str]:
        """Where the call ends, and what stands for it."""
        closing = self.cursor.pairs[opening]
        match function.kind:
            case Kind.SQL:
                return closing + 1, self.written_out(function, self.arguments(opening, closing))
            case Kind.PYTHON:
                inside = self.piece(opening + 1, closing)
                return closing + 1, f"{quote_spark(function.engine_name)}({inside})"
            case Kind.AGGREGATE:
                return self.aggregate(function, opening, closing)

    def written_out(self, function: Function, arguments: Sequence[str]) -> str:
        require_arguments(function, len(arguments))
        values = {
            p.name.casefold(): f"CAST(({argument}) AS {p.type})"
            for p, argument in zip(function.parameters, arguments, strict=True)
        }
        body = lex(expanded(function.body, {n: f for n, f in self.functions.items() if n != function.name}))
        words = (values.get(_name(t), t.text) if _is_value(body, n) else t.text for n, t in enumerate(body))
        return f"CAST(({' '.join(words).strip()}) AS {function.returns})"

    def aggregate(self, function: Function, opening: int, closing: int) -> tuple[int, str]:
        """The function of a list of the group's rows, in an order of their own; FILTER and OVER go with the list."""
        first = opening + 1
        distinct = self.cursor.tokens[first].reads("DISTINCT")
        inside = self.piece(first + distinct, closing)
        end = self.tail(closing + 1)
        tail = self.piece(closing + 1, end)
        rows = f"collect_list({'DISTINCT ' * distinct}struct({inside})) {tail}".strip()
        return end, f"{quote_spark(function.engine_name)}(sort_array({rows}))"

    def tail(self, index: int) -> int:
        """Where FILTER (…) and OVER (…) or OVER name end."""
        tokens = self.cursor.tokens
        for word in ("FILTER", "OVER"):
            if tokens[index].reads(word):
                bracket = tokens[index + 1].reads("(")
                index = self.cursor.pairs[index + 1] + 1 if bracket else index + 2
        return index

    def arguments(self, opening: int, closing: int) -> list[str]:
        tokens, starts, index = self.cursor.tokens, [opening + 1], opening + 1
        while index < closing:
            if tokens[index].reads("(") or tokens[index].reads("["):
                index = self.cursor.pairs[index]
            elif tokens[index].reads(","):
                starts.append(index + 1)
            index += 1
        if opening + 1 == closing:
            return []
        ends = [*(start - 1 for start in starts[1:]), closing]
        return [self.piece(start, end) for start, end in zip(starts, ends, strict=True)]


def _is_call(tokens: Sequence[Token], index: int) -> bool:
    named = tokens[index].kind in ("word", "ident") and index + 1 < len(tokens) and tokens[index + 1].reads("(")
    return named and not (index and tokens[index - 1].reads("."))


def _is_value(tokens: Sequence[Token], index: int) -> bool:
    """A name that stands for a value: of no field, and not called."""
    if tokens[index].kind not in ("word", "ident") or (index and tokens[index - 1].reads(".")):
        return False
    return not _is_call(tokens, index)


def _name(token: Token) -> str:
    return (identifier_value(token) if token.kind == "ident" else token.text).casefold()
