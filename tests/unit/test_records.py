"""Facts in notebooks: tables of HTML, nothing of which is markup by accident."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import trickle
from trickle.records import Record, Records
from trickle.testing.past import Past


@dataclass(frozen=True)
class Fact(Record):
    name: str
    rows: int | None


def test_facts_are_a_table_with_everything_escaped() -> None:
    shown = Records([Fact("<b>", 1), Fact("plain", None)])._repr_html_()
    assert "<th>name</th><th>rows</th>" in shown and "<td>&lt;b&gt;</td><td>1</td>" in shown
    assert Records[Fact]([])._repr_html_() == "<i>none</i>"
    assert "<td>rows</td><td>1</td>" in Fact("one", 1)._repr_html_()


def test_a_session_and_a_stream_table_show_themselves(tmp_path: Path) -> None:
    with trickle.connect(tmp_path / "shop") as db:
        db.sql("CREATE TABLE orders (id INT)")
        table = Past(db).stream("totals", "SELECT id FROM orders WHERE id < 3", "orders")
        assert "<td>totals</td>" in db._repr_html_() and "snapshot 1" in db._repr_html_()
        assert "WHERE id &lt; 3" in table._repr_html_()
    assert db._repr_html_() == "<i>closed trickle session</i>"
