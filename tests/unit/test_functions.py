"""What functions give has the same columns whether there is anything to give or not."""

from __future__ import annotations

import dataclasses

import pyarrow as pa
import pytest

import trickle
from trickle.functions import FUNCTIONS, RELATIONS, columns
from trickle.ops.diagnose import Diagnosis
from trickle.ops.facts import StatusRecord


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_columns_of_every_function_are_known_before_it_is_called(name: str) -> None:
    found = columns(trickle.Session, name)
    assert len(found) > 0 and not any(pa.types.is_null(field.type) for field in found)


def test_columns_are_the_fields_of_the_record() -> None:
    assert columns(trickle.Session, "diagnose_errors").names == [f.name for f in dataclasses.fields(Diagnosis)]
    assert all(columns(trickle.Session, name).names != ["value"] for name in RELATIONS)


def test_a_field_that_may_be_missing_has_its_type_all_the_same() -> None:
    found = columns(trickle.Session, "stream_table_status")
    assert found.names == [f.name for f in dataclasses.fields(StatusRecord)]
    assert found.field("data_snapshot").type == pa.int64()
    assert found.field("last_refresh_at").type == pa.timestamp("us", "UTC")
    assert found.field("lag_seconds").type == pa.float64()


def test_plain_values_are_one_column() -> None:
    assert columns(trickle.Session, "head") == pa.schema([("value", pa.int64())])
    assert columns(trickle.Session, "drop_stream_table") == pa.schema([("value", pa.string())])
