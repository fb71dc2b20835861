"""A script, cut into its statements."""

from __future__ import annotations

from trickle.sql.grammar.lexer import lex


def split(text: str, dialect: str = "spark") -> list[str]:
    """The statements between semicolons; those inside strings, names, comments and $$ do not count.

    >>> split("BEGIN; INSERT INTO t VALUES (';'); -- done; really")
    ['BEGIN', "INSERT INTO t VALUES (';')"]
    """
    statements: list[str] = []
    start: int | None = None
    end = 0
    for token in lex(text, dialect):
        if token.reads(";") or token.kind == "end":
            if start is not None:
                statements.append(text[start:end])
            start = None
        else:
            start = token.start if start is None else start
            end = token.end
    return statements
