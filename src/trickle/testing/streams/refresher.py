"""A process that refreshes when told to, until it is killed: each line it hears is one `refresh_all`."""

from __future__ import annotations

import sys

from trickle.testing.programs import open_lake, order, say


def main() -> None:
    with open_lake(order()["lake"]) as db:
        say(ready=True)
        for _ in sys.stdin:
            results = db.refresh_all()
            say(done=[[r.name, r.action, r.data_snapshot] for r in results])


if __name__ == "__main__":
    main()
