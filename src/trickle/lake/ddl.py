"""Spark DDL type text → Spark type, without a session: `decimal(10,2)`, `array<struct<a:int,b:string>>`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn

from pyspark.sql import types as spark

from ..errors import QueryError

_TOKEN = re.compile(
    r"\s*(?:(?P<quoted>`(?:[^`]|``)+`)|(?P<text>'(?:[^'\\]|\\.|'')*')|(?P<word>\w+)|(?P<sign>[<>(),:]))"
)
_ATOMS: dict[str, spark.DataType] = {
    "boolean": spark.BooleanType(),
    "tinyint": spark.ByteType(),
    "byte": spark.ByteType(),
    "smallint": spark.ShortType(),
    "short": spark.ShortType(),
    "int": spark.IntegerType(),
    "integer": spark.IntegerType(),
    "bigint": spark.LongType(),
    "long": spark.LongType(),
    "float": spark.FloatType(),
    "real": spark.FloatType(),
    "double": spark.DoubleType(),
    "string": spark.StringType(),
    "binary": spark.BinaryType(),
    "date": spark.DateType(),
    "timestamp": spark.TimestampType(),
    "timestamp_ltz": spark.TimestampType(),
    "timestamp_ntz": spark.TimestampNTZType(),
    "void": spark.NullType(),
    "variant": spark.VariantType(),
    "interval": spark.CalendarIntervalType(),
}
_DECIMAL = frozenset({"decimal", "dec", "numeric"})
_SIZED: dict[str, Callable[[int], spark.DataType]] = {
    "char": spark.CharType,
    "character": spark.CharType,
    "varchar": spark.VarcharType,
}


def parse_ddl(text: str) -> spark.DataType:
    """
    >>> parse_ddl("map<string, array<decimal(10,2)>>").simpleString()
    'map<string,array<decimal(10,2)>>'
    """
    parser = _Parser(text)
    dtype = parser.type()
    return dtype if parser.done() else parser.fail()


class _Parser:
    """Recursive descent over the tokens of one type."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[str] = []
        self.at = 0
        position = 0
        while rest := text[position:].strip():
            match = _TOKEN.match(text, position)
            if match is None:
                self.fail(f"unexpected {rest[0]!r}.")
            self.tokens.append(match.group().strip())
            position = match.end()

    def done(self) -> bool:
        return self.at == len(self.tokens)

    def fail(self, detail: str = "") -> NoReturn:
        raise QueryError(f'type "{self.text.strip()}" is not a type of Spark', detail=detail)

    def type(self) -> spark.DataType:
        name = self.next().lower()
        if name in _DECIMAL:
            return self.decimal()
        if name in _SIZED:
            return _SIZED[name](*self.numbers(1, 1))
        if name in ("array", "map", "struct"):
            return self.nested(name)
        if name == "time":
            return spark.TimeType(*self.numbers(0, 1))
        return _ATOMS.get(name) or self.fail(f"{name} is unknown.")

    def nested(self, name: str) -> spark.DataType:
        self.expect("<")
        result: spark.DataType
        if name == "array":
            result = spark.ArrayType(self.type())
        elif name == "map":
            key = self.type()
            self.expect(",")
            result = spark.MapType(key, self.type())
        else:
            result = spark.StructType(self.fields())
        self.expect(">")
        return result

    def fields(self) -> list[spark.StructField]:
        fields: list[spark.StructField] = []
        while self.peek() != ">":
            if fields:
                self.expect(",")
            fields.append(self.field())
        return fields

    def field(self) -> spark.StructField:
        name = self.next()
        if name.startswith("`"):
            name = name[1:-1].replace("``", "`")
        self.accept(":")
        field = spark.StructField(name, self.type())
        if self.accept("not"):
            self.expect("null")
            field.nullable = False
        if self.accept("comment"):
            self.next()
        return field

    def decimal(self) -> spark.DataType:
        match self.numbers(0, 2):
            case [precision, scale]:
                pass
            case [precision]:
                scale = 0
            case _:
                precision, scale = 10, 0
        if not 0 <= scale <= precision <= 38 or not precision:
            self.fail("a decimal has 1 to 38 digits, and its scale is at most its precision.")
        return spark.DecimalType(precision, scale)

    def numbers(self, least: int, most: int) -> list[int]:
        """`(n, …)` as integers; nothing where none are required and none stand."""
        found: list[int] = []
        if self.accept("("):
            found.append(self.number())
            while self.accept(","):
                found.append(self.number())
            self.expect(")")
        if not least <= len(found) <= most:
            self.fail(f"expected {least} to {most} arguments.")
        return found

    def number(self) -> int:
        token = self.next()
        return int(token) if token.isdecimal() else self.fail(f"{token} is not a number.")

    def peek(self) -> str:
        return "" if self.done() else self.tokens[self.at].lower()

    def next(self) -> str:
        if self.done():
            self.fail("it ends too early.")
        self.at += 1
        return self.tokens[self.at - 1]

    def accept(self, token: str) -> bool:
        found = self.peek() == token
        self.at += found
        return found

    def expect(self, token: str) -> None:
        if not self.accept(token):
            self.fail(f"expected {token} before {self.peek() or 'the end'}.")
