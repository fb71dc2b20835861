"""Text to tokens, by Spark's lexical rules: every token knows where it stands, nothing is translated.

sqlglot's tokenizer is not used here: it swallows whole commands (CALL, EXPLAIN, SHOW) and reads `'it''s'` as
two literals, while Spark 4 reads one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from trickle.errors import QueryError

_COMMON = r"""
    (?P<space>   \s+ | --(?:\\\n|[^\r\n])* )
  | (?P<comment> /\* )
  | (?P<ident>   `(?:[^`]|``)*` {ident} )
  | (?P<string>  {string} | \$(?P<tag>(?:[^\W\d]\w*)?)\$ .*? \$(?P=tag)\$ )
  | (?P<number>  (?: \d+(?:\.\d*)? | (?<![\w`])\.\d+ ) (?:[eE][+-]?\d+)? (?:[bB][dD]|[lLsSyYdDfF])? (?!\w) )
  | (?P<word>    \w+ )
  | (?P<symbol>  <=> | => | -> | :: | \|> | \|\| | <> | != | <= | >= | == | \S )
"""
_RULES = {
    "spark": (r"", r"""[rR]'[^']*' | [rR]"[^"]*" | '(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*" """),
    "postgres": (r"""| "(?:[^"]|"")*" """, r"""[eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' """),
}
_PATTERNS = {
    dialect: re.compile(_COMMON.format(ident=ident, string=string), re.VERBOSE | re.DOTALL)
    for dialect, (ident, string) in _RULES.items()
}
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_OPENERS = {"'": "string", '"': "string", "`": "quoted name"}


@dataclass(frozen=True, slots=True)
class Token:
    """`end` is exclusive. Kinds: word, ident, string, number, symbol, end.

    `key` is the word in capitals, or the symbol; nothing for the other kinds, so that a quoted name is no keyword.
    """

    kind: str
    text: str
    start: int
    end: int
    key: str = ""

    def reads(self, word: str) -> bool:
        return self.key == word


def syntax_error(text: str, at: int, message: str, hint: str = "") -> QueryError:
    """An error that shows the place: line, column and a caret under it."""
    line_start = text.rfind("\n", 0, at) + 1
    line_end = text.find("\n", at)
    line = text[line_start : line_end if line_end >= 0 else len(text)].replace("\t", " ")
    column = at - line_start
    first = max(0, column - 60)
    excerpt = line[first : column + 60].rstrip()
    where = f"line {text.count(chr(10), 0, at) + 1}, column {column + 1}"
    return QueryError(message, detail=f"{where}:\n  {excerpt}\n  {' ' * (column - first)}^", hint=hint)


def lex(text: str, dialect: str = "spark") -> list[Token]:
    """The tokens of a text, comments left out, an `end` token last.

    >>> [token.text for token in lex("SELECT 'it''s' -- so")]
    ['SELECT', "'it''s'", '']
    """
    pattern = _PATTERNS.get(dialect)
    if pattern is None:
        raise QueryError(f'dialect "{dialect}" is not known', hint=f"use one of {', '.join(_PATTERNS)}")
    tokens: list[Token] = []
    at = 0
    while match := pattern.match(text, at):
        kind = match.lastgroup if match.lastgroup != "tag" else "string"
        if kind == "comment":
            at = _comment_end(text, at)
            continue
        if kind == "symbol" and match[0] in _OPENERS:
            raise syntax_error(text, at, f"the {_OPENERS[match[0]]} is not closed", f"add the closing {match[0]}")
        if kind != "space":
            key = match[0].upper() if kind in ("word", "symbol") else ""
            tokens.append(Token(str(kind), match[0], at, match.end(), key))
        at = match.end()
    tokens.append(Token("end", "", len(text), len(text)))
    return tokens


def _comment_end(text: str, at: int) -> int:
    """Bracketed comments nest in Spark, as in PostgreSQL."""
    depth = 0
    for edge in _COMMENT_EDGE.finditer(text, at):
        depth += 1 if edge[0] == "/*" else -1
        if depth == 0:
            return edge.end()
    raise syntax_error(text, at, "the comment is not closed", "add the closing */")


def brackets(text: str, tokens: list[Token]) -> dict[int, int]:
    """The index of each opening bracket with that of its closing one; raises at one without its partner."""
    partner = {")": "(", "]": "["}
    waiting: list[int] = []
    pairs: dict[int, int] = {}
    for index, token in enumerate(tokens):
        if token.kind != "symbol":
            continue
        if token.text in ("(", "["):
            waiting.append(index)
        elif token.text in partner:
            if not waiting or tokens[waiting[-1]].text != partner[token.text]:
                raise syntax_error(text, token.start, f'the bracket "{token.text}" closes nothing')
            pairs[waiting.pop()] = index
    if waiting:
        raise syntax_error(text, tokens[waiting[-1]].start, f'the bracket "{tokens[waiting[-1]].text}" is not closed')
    return pairs


_ESCAPES = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_ESCAPE = r"\\(?:u([0-9a-fA-F]{4})|U(00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4})|([0-3][0-7]{2})|(.))"
_ESCAPED = {quote: re.compile(f"{quote}{quote}|{_ESCAPE}", re.DOTALL) for quote in "'\""}


def _unescape(match: re.Match[str]) -> str:
    if match[0][0] != "\\":
        return match[0][0]
    short, long, octal, other = match.groups()
    if short or long:
        return chr(int(short or long, 16))
    return chr(int(octal, 8)) if octal else _ESCAPES.get(other, other)


def string_value(token: Token, dialect: str = "spark") -> str:
    r"""What a string literal stands for.

    >>> string_value(lex(r"'it''s\tso'")[0])
    "it's\tso"
    """
    text = token.text
    if text[0] == "$":
        tag = text[: text.index("$", 1) + 1]
        return text[len(tag) : -len(tag)]
    if text[0] in "rR":
        return text[2:-1]
    if dialect == "postgres" and text[0] == "'":
        return text[1:-1].replace("''", "'")
    body = text[2:-1] if text[0] in "eE" else text[1:-1]
    return _ESCAPED[text[-1]].sub(_unescape, body)


def identifier_value(token: Token) -> str:
    """What a quoted name stands for."""
    quote = token.text[0]
    return token.text[1:-1].replace(quote * 2, quote)
