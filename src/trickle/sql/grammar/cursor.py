"""A place in the tokens of one statement, and the small words every grammar function is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from trickle.errors import QueryError
from trickle.sql.grammar.lexer import (
    Token,
    brackets,
    identifier_value,
    lex,
    string_value,
    syntax_error,
)
from trickle.sql.statement import Name

T = TypeVar("T")
_PREDICATES = (("DISTINCT", "FROM"), ("IS", "NOT"), ("IS", "NULL"), ("NOT", "NULL"))
QUERY_STARTS = ("SELECT", "WITH", "FROM", "VALUES", "TABLE")


class Cursor:
    """Reads forward; `accept` moves on only when the words are there, `expect` raises when they are not."""

    def __init__(self, text: str, dialect: str = "spark") -> None:
        self.text = text
        self.dialect = dialect
        self.tokens = lex(text, dialect)
        self.index = 0
        self.pairs = brackets(text, self.tokens)
        self.query_starts: dict[int, bool] = {}

    def peek(self, ahead: int = 0) -> Token:
        return self.tokens[min(self.index + ahead, len(self.tokens) - 1)]

    def take(self) -> Token:
        token = self.peek()
        self.index += 1
        return token

    def done(self) -> bool:
        return self.peek().kind == "end"

    def sees(self, *words: str) -> bool:
        return all(self.peek(ahead).reads(word) for ahead, word in enumerate(words))

    def sees_any(self, *words: str) -> bool:
        return self.peek().key in words

    def accept(self, *words: str) -> bool:
        if not self.sees(*words):
            return False
        self.index += len(words)
        return True

    def accept_any(self, *words: str) -> bool:
        found = self.sees_any(*words)
        self.index += found
        return found

    def expect(self, *words: str) -> None:
        if not self.accept(*words):
            raise self.error(f"expected {' '.join(words)}, found {self.found()}")

    def finish(self, statement: str) -> None:
        """Raises when something is left: nothing unsupported is silently ignored."""
        if not self.done():
            raise self.error(f"{self.found()} is not supported in {statement}")

    def found(self) -> str:
        return "the end of the statement" if self.done() else f'"{self.peek().text}"'

    def error(self, message: str, hint: str = "", at: Token | None = None) -> QueryError:
        return syntax_error(self.text, (at or self.peek()).start, message, hint)

    def word(self) -> str:
        """The next word in capitals, as it stands in messages."""
        return self.peek().key or self.peek().text

    def is_name(self, token: Token | None = None) -> bool:
        return (token or self.peek()).kind in ("word", "ident", "string")

    def name(self, what: str = "a name") -> str:
        """One identifier; double quotes are accepted around it, although Spark has them for strings."""
        token = self.peek()
        if token.kind == "word":
            return self.take().text
        if token.kind == "ident":
            return identifier_value(self.take())
        if token.kind == "string" and token.text[0] == '"':
            return string_value(self.take())
        hint = "put names with other signs than letters, digits and _ into backquotes" if not self.done() else ""
        raise self.error(f"expected {what}, found {self.found()}", hint)

    def names_along_dots(self, what: str = "a name") -> list[str]:
        parts = [self.name(what)]
        while self.accept("."):
            parts.append(self.name(what))
        return parts

    def table_name(self, what: str = "a table name") -> Name:
        start = self.peek()
        parts = self.names_along_dots(what)
        if len(parts) > 2:
            raise self.error(
                f'"{".".join(parts)}" has too many parts',
                "write [schema.]name, with backquotes around dots",
                start,
            )
        return Name(parts[0], parts[1]) if len(parts) == 2 else Name(None, parts[0])

    def listed(self, item: Callable[[Cursor], T]) -> tuple[T, ...]:
        """(item, item, ...), at least one."""
        self.expect("(")
        items = self.separated(item)
        self.expect(")")
        return items

    def separated(self, item: Callable[[Cursor], T]) -> tuple[T, ...]:
        items = [item(self)]
        while self.accept(","):
            items.append(item(self))
        return tuple(items)

    def column_names(self) -> tuple[str, ...]:
        return self.listed(lambda cursor: cursor.name("a column name"))

    def string(self) -> str:
        """A string literal; adjacent ones are one."""
        if self.peek().kind != "string":
            raise self.error(f"expected a string, found {self.found()}")
        value = ""
        while self.peek().kind == "string":
            value += string_value(self.take(), self.dialect)
        return value

    def closing(self) -> int:
        """The index of the bracket that closes the one the cursor stands on."""
        return self.pairs[self.index]

    def slice(self, first: int, last: int) -> str:
        """The text from token `first` up to, not including, token `last`."""
        return self.text[self.tokens[first].start : self.tokens[last - 1].end]

    def sees_query(self, ahead: int = 0) -> bool:
        """Whether a query starts here, any number of brackets around it; remembered for all of the brackets."""
        first = last = min(self.index + ahead, len(self.tokens) - 1)
        if first not in self.query_starts:
            while self.tokens[last].reads("("):
                last += 1
            answer = self.tokens[last].key in QUERY_STARTS
            self.query_starts.update(dict.fromkeys(range(first, last + 1), answer))
        return self.query_starts[first]

    def query(self) -> str:
        """All that is left, a query, in Spark's words."""
        if not self.sees_query():
            raise self.error(f"expected a query, found {self.found()}")
        first, self.index = self.index, len(self.tokens) - 1
        from trickle.sql.dialects import to_spark

        return to_spark(self.slice(first, self.index), self.dialect)

    def expression(self, *stops: str) -> str:
        """An expression, in Spark's words: up to a comma, a bracket or a stop, outside brackets and CASE."""
        first, cases = self.index, 0
        while not self.done() and not (cases == 0 and self._ends_expression(first, stops)):
            token = self.peek()
            cases += token.reads("CASE") - (cases > 0 and token.reads("END"))
            self.index = self.closing() + 1 if token.reads("(") or token.reads("[") else self.index + 1
        if self.index == first:
            raise self.error(f"expected an expression, found {self.found()}")
        from trickle.sql.dialects import expression_to_spark

        return expression_to_spark(self.slice(first, self.index), self.dialect)

    def _ends_expression(self, first: int, stops: tuple[str, ...]) -> bool:
        if self.sees_any(",", ")", "]"):
            return True
        if self.index == first or self.tokens[self.index - 1].reads("."):
            return False
        before = self.tokens[self.index - 1]
        inside_predicate = any(before.reads(first) and self.sees(then) for first, then in _PREDICATES)
        return self.sees_any(*stops) and not inside_predicate


def table_name(text: str) -> Name:
    """A table's name as SQL writes it.

    >>> table_name("sales.`my orders`").name
    'my orders'
    """
    cursor = Cursor(text)
    name = cursor.table_name()
    if not cursor.done():
        raise QueryError(f'"{text}" is not a table name', hint="quote odd names with backquotes.")
    return name
