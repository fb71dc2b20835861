"""The tables a query names, and the query with something else in their place, the rest byte for byte."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from trickle.errors import QueryError
from trickle.sql.grammar.as_of import AsOf, Timestamp, Version
from trickle.sql.grammar.cursor import Cursor
from trickle.sql.grammar.lexer import Token, identifier_value
from trickle.sql.grammar.relations import Reference, Walk
from trickle.sql.statement import quote_spark

__all__ = [
    "AsOf",
    "Reference",
    "Timestamp",
    "Version",
    "expression_references",
    "references",
    "relation_references",
    "splice",
]

Edit = tuple[int, int, str]


def references(query: str) -> list[Reference]:
    """Every table the query reads, in the order of the text; names of common table expressions are left out.

    >>> [r.name.label for r in references("WITH a AS (SELECT * FROM s.b) SELECT * FROM a JOIN c USING (id)")]
    ['s.b', 'c']
    """
    return _walk(query, Walk.query)


def expression_references(text: str) -> list[Reference]:
    """Every table that subqueries of an expression read.

    >>> [r.name.label for r in expression_references("id IN (SELECT id FROM late)")]
    ['late']
    """
    return _walk(text, Walk.expression)


def relation_references(text: str) -> list[Reference]:
    """The tables of one relation: a name with its AS OF clause, or a bracketed query (the source of a MERGE).

    >>> [r.name.label for r in relation_references("orders VERSION AS OF 3")]
    ['orders']
    """
    return _walk(text, Walk.relation)


def _walk(text: str, rule: Callable[[Walk, int, frozenset[str]], None]) -> list[Reference]:
    cursor = Cursor(text)
    last = len(cursor.tokens) - 1
    if rule is Walk.query and cursor.accept("EXPLAIN"):
        cursor.accept_any("EXTENDED", "FORMATTED", "COST", "CODEGEN")
    walk = Walk(cursor)
    try:
        rule(walk, last, frozenset())
    except RecursionError:
        raise QueryError("the query is nested too deeply", hint="split it with WITH or views") from None
    return sorted(walk.found, key=lambda reference: reference.start)


def splice(text: str, replacements: Mapping[Reference, str], default_schema: str = "main") -> str:
    """The text with each reference replaced, and named as before where it had no alias.

    A column qualified by schema and table follows its table: `main.orders.id` becomes `` `orders`.id ``.

    >>> query = "SELECT orders.id FROM orders"
    >>> splice(query, {r: "(SELECT 1 AS id)" for r in references(query)})
    'SELECT orders.id FROM (SELECT 1 AS id) AS `orders`'
    """
    aliases = _aliases(text, replacements, default_schema)
    edits: list[Edit] = []
    for reference, new in replacements.items():
        alias = f" AS {aliases[reference]}" if reference in aliases else ""
        between = text[reference.end : reference.alias_at]
        edits.append((reference.start, reference.alias_at, reference.form.format(new + between + alias)))
    edits += _qualified_columns(text, aliases, default_schema)
    return _apply(text, edits)


def _apply(text: str, edits: list[Edit]) -> str:
    pieces: list[str] = []
    at = 0
    for start, end, new in sorted(edits, key=lambda edit: edit[:2]):
        pieces += (text[at:start], new)
        at = end
    return "".join((*pieces, text[at:]))


def _key(reference: Reference, default_schema: str) -> tuple[str, str]:
    name = reference.name.within(default_schema)
    return str(name.schema).casefold(), name.name.casefold()


def _aliases(text: str, replacements: Mapping[Reference, str], default_schema: str) -> dict[Reference, str]:
    """The bare table name; two tables of one name in two schemas, told apart by schema, keep both parts."""
    bare = [r for r in replacements if not r.alias_present]
    keys = {_key(r, default_schema) for r in bare}
    chains = _chains(text)
    aliases: dict[Reference, str] = {}
    for reference in bare:
        key = _key(reference, default_schema)
        rivals = any(other[1] == key[1] and other != key for other in keys)
        if rivals and any(len(chain) > 2 and _names(chain)[:2] == list(key) for chain in chains):
            _refuse_ambiguity(reference, chains)
            aliases[reference] = quote_spark(reference.name.within(default_schema).label)
        else:
            aliases[reference] = quote_spark(reference.name.name)
    return aliases


def _refuse_ambiguity(reference: Reference, chains: list[list[Token]]) -> None:
    name = reference.name.name
    if any(len(chain) == 2 and _names(chain)[0] == name.casefold() for chain in chains):
        raise QueryError(
            f'"{name}" stands for tables of several schemas in this query',
            hint="give each of the tables an alias",
        )


def _qualified_columns(text: str, aliases: Mapping[Reference, str], default_schema: str) -> list[Edit]:
    """schema.table.column, the schema taken off: the alias that stands for the table has none."""
    by_key = {_key(reference, default_schema): alias for reference, alias in aliases.items()}
    edits: list[Edit] = []
    for chain in _chains(text):
        alias = by_key.get((_names(chain)[0], _names(chain)[1])) if len(chain) > 2 else None
        if alias is not None:
            edits.append((chain[0].start, chain[1].end, alias))
    return edits


def _names(chain: list[Token]) -> list[str]:
    return [(identifier_value(t) if t.kind == "ident" else t.text).casefold() for t in chain]


def _chains(text: str) -> list[list[Token]]:
    """Names joined by dots, two or more: a.b, a.b.c, a.b.*"""
    cursor = Cursor(text)
    chains: list[list[Token]] = []
    while not cursor.done():
        chain = [cursor.take()]
        while chain[0].kind in ("word", "ident") and cursor.sees(".") and _continues(cursor.peek(1)):
            cursor.take()
            chain.append(cursor.take())
        if len(chain) > 1:
            chains.append(chain)
    return chains


def _continues(token: Token) -> bool:
    return token.kind in ("word", "ident") or token.reads("*")
