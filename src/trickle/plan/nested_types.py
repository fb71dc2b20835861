"""What types are made of: elements of lists, entries of maps, fields of structs."""

from __future__ import annotations

from sqlglot import exp

Type = exp.DataType.Type


def element_of(type: str | None) -> str | None:
    """The type of a list's elements; None if it is no list.

    >>> element_of("array<int>"), element_of("int")
    ('INT', None)
    """
    built = _built(type, Type.ARRAY)
    return None if built is None else _spelled(built.expressions[0])


def entry_of(type: str | None) -> tuple[str, str] | None:
    """The types of a map's keys and values.

    >>> entry_of("map<string,int>")
    ('STRING', 'INT')
    """
    built = _built(type, Type.MAP)
    return None if built is None else (_spelled(built.expressions[0]), _spelled(built.expressions[1]))


def fields_of(type: str | None) -> list[tuple[str, str]] | None:
    """The names and types of a struct's fields.

    >>> fields_of("struct<x:int,y:array<string>>")
    [('x', 'INT'), ('y', 'ARRAY<STRING>')]
    """
    built = _built(type, Type.STRUCT)
    if built is None or not all(isinstance(part, exp.ColumnDef) for part in built.expressions):
        return None
    return [(part.name, _spelled(part.args["kind"])) for part in built.expressions]


def _built(type: str | None, kind: exp.DType) -> exp.DataType | None:
    if type is None:
        return None
    built = exp.DataType.build(type, dialect="spark")
    return built if built.this == kind and built.expressions else None


def _spelled(type: exp.Expr) -> str:
    return str(type.sql("spark"))
