"""The steps of the demo, each a small function that shows one thing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...errors import LakeError
from ...lake.maintenance.merging import Merged
from ...lake.maintenance.rewriting import Rewritten
from ...registry.models import StreamTable
from ..answers import answer, definition, fetch, sentence
from ..output import Output, counted
from ..tables import Rows
from . import shop

if TYPE_CHECKING:
    from ...session import Session


@dataclass
class Stage:
    """Where the demo plays: a new lake, and the people who watch."""

    db: Session
    output: Output
    filled: int = 0
    """The snapshot at which the shop opened."""

    def title(self, text: str) -> None:
        self.output.say()
        self.output.say(text, style="bold")

    def run(self, statement: str) -> None:
        self.output.say(f"  {statement}".replace("\n", "\n  "), style="cyan")
        result = self.db.sql(statement)
        within = f"snapshot {result.snapshot}" if result.snapshot is not None else "part of the transaction"
        self.output.fact(result, f"  → {counted(result.rows, 'row')}, {within}")

    def tell(self, statement: str) -> None:
        self.output.say(f"  {statement}".replace("\n", "\n  "), style="cyan")
        result = self.db.sql(statement)
        fact = definition(result) if isinstance(result, StreamTable) else result
        self.output.fact(fact, f"  → {sentence(fact)}")

    def show(self, query: str) -> None:
        self.output.say(f"  {query}".replace("\n", "\n  "), style="cyan")
        self.output.rows(answer(self.db, query))


def create(stage: Stage) -> None:
    stage.title("1. Two tables. Their definitions are a commit each; no file is written yet.")
    stage.run(shop.CUSTOMERS)
    stage.run(shop.ORDERS)


def fill(stage: Stage) -> None:
    stage.title("2. Rows, from SQL and from Python. Every statement is one snapshot of the whole lake.")
    stage.run(shop.FIRST_CUSTOMERS)
    for half in (shop.FIRST_ORDERS[:6], shop.FIRST_ORDERS[6:]):
        result = stage.db.append("orders", half)
        stage.output.say('  db.append("orders", [{"id": …}, …])', style="cyan")
        stage.output.fact(result, f"  → {counted(result.rows, 'row')}, snapshot {result.snapshot}")
    stage.filled = stage.db.head()


def change(stage: Stage) -> None:
    stage.title("3. Changes: UPDATE, DELETE and MERGE.")
    for statement in (shop.SHIP, shop.CANCEL, shop.CORRECT):
        stage.run(statement)


def transact(stage: Stage) -> None:
    stage.title("4. A transaction: two tables, one snapshot; readers see both rows or none.")
    with stage.db.transaction():
        stage.run(shop.NEW_CUSTOMER)
        stage.run(shop.NEW_ORDER)
    stage.output.say(f"  → committed as snapshot {stage.db.head()}")


def state(stage: Stage) -> None:
    stage.title("5. The state now.")
    stage.show(shop.REVENUE)


def feed(stage: Stage) -> None:
    head = stage.db.head()
    stage.title(f"6. The net change of orders from snapshot {stage.filled} to {head}: __w = +1 came, -1 went.")
    stage.output.say(f'  db.changes("orders", {stage.filled}, {head})', style="cyan")
    stage.output.rows(fetch(stage.db.changes("orders", stage.filled, head).orderBy("id", "__w")))


def travel(stage: Stage) -> None:
    stage.title("7. Time travel: every snapshot stays readable until it is expired.")
    stage.show(shop.then_and_now(stage.filled))


def stream(stage: Stage) -> None:
    stage.title(
        "8. A stream table: a query that stays true. A refresh computes only what changed, and says what it did."
    )
    stage.tell(shop.STREAM)
    stage.run(shop.MOVE)
    stage.run(shop.DISCOUNT)
    stage.tell("REFRESH STREAM TABLE revenue")
    _compared(stage)
    stage.tell("REFRESH STREAM TABLE revenue")
    stage.output.say("  nothing changed in between, so nothing was read.")


def _compared(stage: Stage) -> None:
    """What is stored, shown, and what the query says now."""
    query = "SELECT * FROM revenue ORDER BY revenue DESC"
    stage.output.say(f"  {query}", style="cyan")
    stored = answer(stage.db, query)
    stage.output.rows(stored)
    if Counter(stored.rows) != Counter(answer(stage.db, shop.REVENUE).rows):
        raise LakeError("the stream table differs from its query", hint="this is a bug: please report it.")
    stage.output.say("  the same rows as the query gives when it is asked again: they were compared.")


def maintain(stage: Stage) -> None:
    stage.title("9. Maintenance: deleted rows are taken out of files, small files are merged. No row changes.")
    before = answer(stage.db, shop.REVENUE)
    _maintained(stage, "db.rewrite_deletes(threshold=0)", stage.db.rewrite_deletes(threshold=0), Rewritten)
    _maintained(stage, "db.merge_files()", stage.db.merge_files(), Merged)
    if answer(stage.db, shop.REVENUE) != before:
        raise LakeError("maintenance changed the rows of the shop", hint="this is a bug: please report it.")
    stage.output.say("  the state is the same.")


def _maintained(stage: Stage, call: str, done: Any, kind: Any) -> None:
    stage.output.say(f"  {call}", style="cyan")
    stage.output.rows(Rows.of(done, kind))


STEPS: tuple[Callable[[Stage], None], ...] = (create, fill, change, transact, state, feed, travel, stream, maintain)
