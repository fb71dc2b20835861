"""What became of the keys of a change that the driver holds."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

from trickle.lake.held import Held, Rows
from trickle.lake.model import WEIGHT
from trickle.refresh.declared import Parts

NAN = math.nan
FAR = pa.array([2**31 - 1, 2**31 - 1, 0], pa.int32()).cast(pa.date32())
BYTES = pa.array([b"\xff", b"\xff", b"a"]).view(pa.string())


def parts(keys: pa.Array, *more: pa.Array) -> Parts:
    """A row whose key stays and whose note changes, and a row that goes."""
    names = [f"k{n}" for n in range(1 + len(more))]
    notes, weights = pa.array(["old", "new", "old"]), pa.array([-1, 1, -1], pa.int64())
    rows = pa.table([keys, *more, notes, weights], names=[*names, "note", WEIGHT])

    def read(columns: object, bounds: object) -> Rows:
        return Held(rows)

    return Parts(read, tuple(names), frozenset({"note"}))


def notes(rows: Rows) -> list[object]:
    assert isinstance(rows, Held)
    return sorted(rows.rows.column("note").to_pylist())


@pytest.mark.parametrize(
    "keys",
    [pa.array([7, 7, 8]), pa.array([NAN, NAN, 1.0]), pa.array([0.0, -0.0, 1.0]), FAR, BYTES],
    ids=["numbers", "NaN", "negative zero", "far years", "text that is not UTF-8"],
)
def test_an_updated_row_is_not_gone_whatever_its_key_is(keys: pa.Array) -> None:
    found = parts(keys)
    assert notes(found.updated) == ["new", "old"]
    assert notes(found.gone) == ["old"]


def test_a_key_of_several_columns_is_the_same_if_all_of_them_are() -> None:
    found = parts(pa.array([1, 1, 1]), pa.array([NAN, NAN, 2.0]))
    assert (notes(found.updated), notes(found.gone)) == (["new", "old"], ["old"])
