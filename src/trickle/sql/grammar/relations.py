"""Where a query names tables: a walk over its tokens that knows FROM lists, joins, brackets and WITH.

The walk needs no full parse, so it also serves queries that only Spark understands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from trickle.sql.grammar.as_of import AsOf, as_of
from trickle.sql.grammar.cursor import Cursor
from trickle.sql.grammar.literals import arguments
from trickle.sql.grammar.streams import SCHEMA
from trickle.sql.statement import FunctionCall, Name

_ENDS_FROM = (
    "WHERE",
    "GROUP",
    "HAVING",
    "ORDER",
    "SORT",
    "CLUSTER",
    "DISTRIBUTE",
    "LIMIT",
    "OFFSET",
    "WINDOW",
)
_ENDS_QUERY = ("QUALIFY", "UNION", "EXCEPT", "INTERSECT", "MINUS", "SELECT")
_JOINS = (
    "JOIN",
    "INNER",
    "LEFT",
    "RIGHT",
    "FULL",
    "CROSS",
    "NATURAL",
    "SEMI",
    "ANTI",
    "ON",
    "USING",
    "LATERAL",
)
_NO_ALIAS = (*_ENDS_FROM, *_ENDS_QUERY, *_JOINS, "PIVOT", "UNPIVOT")
_SET_WORDS = ("UNION", "EXCEPT", "INTERSECT", "MINUS", "ALL", "DISTINCT")
_MARKS = frozenset(("FROM", "JOIN", ",", "TABLE", "LATERAL", "|>", "(", *_ENDS_FROM, *_ENDS_QUERY))
_CONSTANTS = ("NULL", "TRUE", "FALSE")
_AT_END = (")", ",", ";", "|>")

PLAIN = "{}"
AS_QUERY = "SELECT * FROM {}"
AS_ARGUMENT = "TABLE (SELECT * FROM {})"


@dataclass(frozen=True)
class Reference:
    """A table named by a query: [start, end) covers the name and its AS OF clause in the text.

    `alias_at` is where an alias would stand, `form` what a replacement is put into where a bare name stood
    for a query (`TABLE orders`); `function` is set for a call of a function of schema trickle.
    """

    name: Name
    start: int
    end: int
    alias_present: bool
    alias_at: int
    as_of: AsOf | None = None
    function: FunctionCall | None = None
    form: str = PLAIN


class Walk:
    """Collects references; `visible` holds the names of the common table expressions in scope."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.found: list[Reference] = []

    def query(self, last: int, visible: frozenset[str]) -> None:
        """A query up to token `last`: [WITH ...] and then clauses, set operations between them."""
        cursor, listing = self.cursor, False
        if cursor.sees("WITH") and cursor.index < last:
            visible = self._common_tables(visible)
        while cursor.index < last:
            if cursor.peek().key not in _MARKS:
                cursor.take()
            elif self._starts_from():
                cursor.take()
                self.relation(last, visible)
                listing = True
            elif cursor.sees("JOIN") or (listing and cursor.sees(",")):
                cursor.take()
                self.relation(last, visible)
            elif self._starts_bare_table():
                self._bare_table(last, visible, AS_QUERY)
            elif cursor.sees("LATERAL", "VIEW") or cursor.sees_any("|>", *_ENDS_FROM, *_ENDS_QUERY):
                listing = False
                cursor.take()
            else:
                self._step(visible)

    def expression(self, last: int, visible: frozenset[str]) -> None:
        """Anything that is no query itself; FROM means nothing here (extract, trim, IS DISTINCT FROM)."""
        cursor = self.cursor
        while cursor.index < last:
            if cursor.tokens[cursor.index].key == "(" and self._opens_query():
                self._step(visible)
            else:
                cursor.index += 1

    def relation(self, last: int, visible: frozenset[str]) -> None:
        """What stands after FROM, JOIN or a comma between relations: a table, a function, a bracket."""
        cursor = self.cursor
        if cursor.sees("LATERAL") and not cursor.peek(1).reads("VIEW"):
            cursor.take()
        if cursor.sees("("):
            self._bracketed_relation(visible)
        elif cursor.sees("VALUES") and not cursor.peek(1).reads("."):
            self._rows(last, visible)
        elif cursor.index < last and cursor.is_name():
            self._named_relation(last, visible)
        else:
            raise cursor.error(f"expected a table name, found {cursor.found()}")

    def _step(self, visible: frozenset[str]) -> None:
        """One token, or one bracket with all that is inside."""
        cursor = self.cursor
        if self._opens_query():
            last = cursor.closing()
            cursor.take()
            self.query(last, visible)
            cursor.index = last + 1
        elif cursor.sees("("):
            last = cursor.closing()
            cursor.take()
            self.expression(last + 1, visible)
        else:
            cursor.take()

    def _opens_query(self) -> bool:
        """A bracket with a query in it, and not trim(FROM x), a function's own FROM."""
        cursor = self.cursor
        trims = cursor.sees("(", "FROM") and cursor.index > 0 and cursor.tokens[cursor.index - 1].reads("TRIM")
        return cursor.sees("(") and cursor.sees_query(1) and not trims

    def _starts_from(self) -> bool:
        """FROM, but not that of IS [NOT] DISTINCT FROM."""
        cursor = self.cursor
        before = cursor.tokens[max(0, cursor.index - 2) : cursor.index]
        if not cursor.sees("FROM") or (before and before[-1].reads(".")):
            return False
        return not (
            len(before) == 2 and before[1].reads("DISTINCT") and (before[0].reads("IS") or before[0].reads("NOT"))
        )

    def _starts_bare_table(self) -> bool:
        """TABLE name, as a whole query: first in its bracket, or after a set operation."""
        cursor = self.cursor
        if not (cursor.sees("TABLE") and cursor.is_name(cursor.peek(1))):
            return False
        before = cursor.tokens[cursor.index - 1]
        return cursor.index == 0 or before.key in ("(", ")", "EXPLAIN", *_SET_WORDS)

    def _bare_table(self, last: int, visible: frozenset[str], form: str) -> None:
        start = self.cursor.take().start
        self._table(start, last, visible, form)

    def _common_tables(self, visible: frozenset[str]) -> frozenset[str]:
        """WITH [RECURSIVE] name [(columns)] [AS] (query), ...: each sees those before it."""
        cursor = self.cursor
        cursor.take()
        recursive = cursor.sees("RECURSIVE") and cursor.is_name(cursor.peek(1)) and not cursor.peek(1).reads("AS")
        cursor.index += recursive
        while True:
            name = cursor.name("a name after WITH").casefold()
            if cursor.sees("(") and not cursor.sees_query():
                cursor.index = cursor.closing() + 1
            if cursor.accept("MAX", "RECURSION", "LEVEL"):
                cursor.take()
            cursor.accept("AS")
            if not cursor.sees("("):
                raise cursor.error(f"expected the query of {name} in brackets, found {cursor.found()}")
            last = cursor.closing()
            cursor.take()
            self.query(last, visible | {name} if recursive else visible)
            cursor.index = last + 1
            visible |= {name}
            if not cursor.accept(","):
                return visible

    def _bracketed_relation(self, visible: frozenset[str]) -> None:
        """(query), or (a JOIN b ON ...)."""
        cursor = self.cursor
        last = cursor.closing()
        is_query = cursor.sees_query(1)
        cursor.take()
        if not is_query:
            self.relation(last, visible)
            self._rest_of_list(last, visible)
        else:
            self.query(last, visible)
        cursor.index = last + 1

    def _rest_of_list(self, last: int, visible: frozenset[str]) -> None:
        cursor = self.cursor
        while cursor.index < last:
            if cursor.accept("JOIN") or cursor.accept(","):
                self.relation(last, visible)
            else:
                self._step(visible)

    def _rows(self, last: int, visible: frozenset[str]) -> None:
        """VALUES row, row: its commas separate rows as long as what follows cannot be a relation."""
        self.cursor.take()
        while self.cursor.index < last and not self._ends_rows():
            self._step(visible)

    def _ends_rows(self) -> bool:
        token, after = self.cursor.peek(), self.cursor.peek(1)
        if token.reads(","):
            return not (after.kind in ("number", "string") or after.key in ("(", "-", *_CONSTANTS))
        calls = after.reads("(") or after.kind == "string" or token.key in _CONSTANTS
        return token.kind == "ident" or (token.kind == "word" and not calls)

    def _named_relation(self, last: int, visible: frozenset[str]) -> None:
        cursor = self.cursor
        first = cursor.index
        parts = cursor.names_along_dots("a table name")
        if cursor.sees("(") and cursor.index < last:
            self._function(cursor.tokens[first].start, parts, last, visible)
            return
        cursor.index = first
        self._table(cursor.peek().start, last, visible, PLAIN)

    def _table(self, start: int, last: int, visible: frozenset[str], form: str) -> None:
        name = self.cursor.table_name()
        if name.schema is not None or name.name.casefold() not in visible:
            self._add(Reference(name, start, 0, False, 0, as_of(self.cursor), form=form), last)

    def _function(self, start: int, parts: list[str], last: int, visible: frozenset[str]) -> None:
        """A function of schema trickle is a reference; arguments of others may hold queries and TABLE t."""
        cursor = self.cursor
        if len(parts) == 2 and parts[0].casefold() == SCHEMA:
            call = arguments(cursor, parts[1])
            self._add(Reference(Name(SCHEMA, call.function), start, 0, False, 0, function=call), last)
            return
        close = cursor.closing()
        cursor.take()
        while cursor.index < close:
            self._argument_token(close, visible)
        cursor.index = close + 1

    def _argument_token(self, close: int, visible: frozenset[str]) -> None:
        """One step through the arguments of a table function."""
        cursor = self.cursor
        if cursor.sees("TABLE") and cursor.is_name(cursor.peek(1)):
            self._bare_table(close, visible, AS_ARGUMENT)
        elif cursor.sees("TABLE", "(") and not cursor.sees_query(1):
            cursor.index += 2
            self._table(cursor.peek().start, close, visible, AS_QUERY)
        else:
            self._step(visible)

    def _add(self, reference: Reference, last: int) -> None:
        """The reference, now that the cursor stands behind its name: how far it reaches, and its alias."""
        cursor = self.cursor
        end = cursor.tokens[cursor.index - 1].end
        if cursor.sees("WITH", "("):
            raise cursor.error(f'options of table "{reference.name.label}" are not supported')
        self._skip_sample()
        alias_at = cursor.tokens[cursor.index - 1].end
        has_alias = self._has_alias(last)
        self.found.append(replace(reference, end=end, alias_present=has_alias, alias_at=alias_at))

    def _skip_sample(self) -> None:
        cursor = self.cursor
        if cursor.accept("TABLESAMPLE") and cursor.sees("("):
            cursor.index = cursor.closing() + 1
            if cursor.accept("REPEATABLE") and cursor.sees("("):
                cursor.index = cursor.closing() + 1

    def _has_alias(self, last: int) -> bool:
        """A word that could start a clause is an alias where nothing follows to make a clause of."""
        cursor = self.cursor
        if cursor.index >= last or not (cursor.is_name() or cursor.sees("AS")):
            return False
        after = cursor.peek(1)
        ends = cursor.index + 1 >= last or after.key in _AT_END
        return ends or not cursor.sees_any(*_NO_ALIAS)
