"""A writer that is going to be killed: an endless row of small transactions whose outcome is known beforehand.

Before each it says `{"begin": n}`, after it `{"done": n}`. Killed in between, the lake holds `expected(n)` or
`expected(n + 1)`, nothing else.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pyarrow as pa

import trickle
from trickle.testing.programs import open_lake, order, say

ACCOUNTS = 5
ROWS = 4
KINDS = 6

Table = Counter[tuple[Any, ...]]


@dataclass
class Books:
    """Both tables as they are after some transactions."""

    ledger: Table = field(default_factory=Counter)
    account: dict[int, int] = field(default_factory=lambda: dict.fromkeys(range(ACCOUNTS), 0))

    def apply(self, n: int) -> None:
        """What transaction `n` does, without a lake."""
        kind, key = n % KINDS, n % ACCOUNTS
        if kind in (0, 1, 5):
            self.ledger.update((id, n) for id in ids(n))
        if kind == 1:
            self.account[key] += 1
        elif kind == 2:
            self.ledger = Counter({row: w for row, w in self.ledger.items() if row[0] % 3 != 0})
        elif kind == 3:
            self.account = {k: balance + (2 if k <= key else 0) for k, balance in self.account.items()}


def ids(n: int) -> range:
    return range(n * ROWS, (n + 1) * ROWS)


def expected(n: int) -> tuple[Table, Table]:
    """Ledger and accounts after the transactions 0 … n-1."""
    books = Books()
    for number in range(n):
        books.apply(number)
    return books.ledger, Counter(books.account.items())


def prepare(db: trickle.Session) -> None:
    with db.transaction():
        db.sql("CREATE TABLE ledger (id BIGINT, n BIGINT)")
        db.sql("CREATE TABLE account (k INT, balance BIGINT)")
        db.sql(f"INSERT INTO account VALUES {', '.join(f'({k}, 0)' for k in range(ACCOUNTS))}")


def transact(db: trickle.Session, n: int) -> None:
    """Transaction `n`: append, append with update, delete, merge, maintenance, INSERT."""
    key = n % ACCOUNTS
    match n % KINDS:
        case 0:
            append(db, n)
        case 1:
            with db.transaction():
                append(db, n)
                db.sql(f"UPDATE account SET balance = balance + 1 WHERE k = {key}")
        case 2:
            db.sql("DELETE FROM ledger WHERE id % 3 = 0")
        case 3:
            db.sql(
                f"MERGE INTO account AS t USING (SELECT id AS k FROM range({key + 1})) AS s ON t.k = s.k "
                "WHEN MATCHED THEN UPDATE SET balance = t.balance + 2"
            )
        case 4:
            db.rewrite_deletes(threshold=0.0)
            db.merge_files()
        case _:
            db.sql(f"INSERT INTO ledger SELECT id, CAST({n} AS BIGINT) FROM range({ids(n).start}, {ids(n).stop})")


def append(db: trickle.Session, n: int) -> None:
    db.append("ledger", pa.table({"id": pa.array(ids(n), pa.int64()), "n": pa.array([n] * ROWS, pa.int64())}))


def main() -> None:
    wanted = order()
    with open_lake(wanted["lake"]) as db:
        for n in count(wanted["first"]):
            say(begin=n)
            transact(db, n)
            say(done=n)


if __name__ == "__main__":
    main()
