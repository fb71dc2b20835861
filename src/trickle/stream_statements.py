"""Statements on stream tables: each is a call of a session's function."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import functions
from .sql import statement as st

if TYPE_CHECKING:
    from .session import Session


def _create(session: Session, statement: st.CreateStreamTable) -> Any:
    options: dict[str, Any] = dict(statement.options)
    name = statement.name.quote_spark()
    if statement.or_replace:
        return session.create_or_replace_stream_table(name, statement.query, **options)
    if statement.if_not_exists:
        return session.create_stream_table_if_not_exists(name, statement.query, **options)
    return session.create_stream_table(name, statement.query, **options)


def _alter(session: Session, statement: st.AlterStreamTable) -> Any:
    name = statement.name.quote_spark()
    if statement.if_exists and not session.has_stream_table(name):
        return None
    if statement.suspend or statement.resume:
        return session.alter_stream_table(name, status="SUSPENDED" if statement.suspend else "ACTIVE")
    options: dict[str, Any] = dict(statement.options)
    return session.alter_stream_table(name, query=statement.query, **options)


def _drop(session: Session, statement: st.DropStreamTable) -> Any:
    return session.drop_stream_table(statement.name.quote_spark(), statement.cascade, statement.if_exists)


def _refresh(session: Session, statement: st.RefreshStreamTable) -> Any:
    return session.refresh_stream_table(statement.name.quote_spark(), statement.full)


def _explain(session: Session, statement: st.ExplainStreamTable) -> Any:
    return session.explain_st(statement.name.quote_spark(), statement.analyze)


def _call(session: Session, statement: st.Call) -> Any:
    return functions.call(session, statement.function, statement.args, statement.kwargs)


def _create_function(session: Session, statement: st.CreateFunction) -> Any:
    return session.create_function(
        statement.name,
        statement.body,
        statement.returns,
        parameters=statement.parameters,
        deterministic=statement.deterministic,
        replace=statement.or_replace,
        if_not_exists=statement.if_not_exists,
    )


def _drop_function(session: Session, statement: st.DropFunction) -> Any:
    return session.drop_function(statement.name, statement.if_exists)


STREAM_STATEMENTS: dict[type, Callable[[Session, Any], Any]] = {
    st.AlterStreamTable: _alter,
    st.Call: _call,
    st.CreateFunction: _create_function,
    st.CreateStreamTable: _create,
    st.DropFunction: _drop_function,
    st.DropStreamTable: _drop,
    st.ExplainStreamTable: _explain,
    st.RefreshStreamTable: _refresh,
}
