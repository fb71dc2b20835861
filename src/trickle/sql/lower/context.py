"""What the lowering of one query knows and remembers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from trickle.plan import Column, Item, Node, Project, col
from trickle.plan.functions import Functions, Kind
from trickle.plan.recursion import Recursion
from trickle.sql.lower.functions import Volatile

if TYPE_CHECKING:
    from trickle.sql.lower.domain import Domain

Schemas = Mapping[str, Sequence[tuple[str, str]]]
"""Ordered (column, Spark type) of every table a query may name, by its dotted name as queries write it."""
Views = Mapping[str, str]
"""The defining text of every view a query may name."""


@dataclass(frozen=True)
class Lowered:
    """A relation and the names its columns are shown under."""

    plan: Node
    labels: tuple[str, ...]
    carried: tuple[Column, ...] = ()
    """Columns that tie the relation to the rows around it; they stand before those with labels."""
    links: tuple[exp.Expr, ...] = ()
    """How they do, where no domain says it."""


@dataclass
class Memory:
    """Grows while a query is lowered; one for all its parts."""

    counter: int = 0
    notes: list[str] = field(default_factory=list)
    volatile: list[Volatile] = field(default_factory=list)
    views: dict[str, Lowered] = field(default_factory=dict)
    recursions: list[Recursion] = field(default_factory=list)
    """Each after those that it reads."""
    opening: list[str] = field(default_factory=list)
    """Views being inlined right now, outermost first: a view inside itself is a circle."""
    read_around: list[set[str]] = field(default_factory=list)
    """Columns of queries around that subqueries were seen to read, for each that is looked at."""


@dataclass(frozen=True)
class Context:
    """The world one query text is read in."""

    schemas: Schemas
    view_texts: Views
    dialect: str
    text: str
    memory: Memory
    lower: Callable[[exp.Expr, Context], Lowered]
    """Lowers a whole query that stands inside another."""
    functions: Functions = field(default_factory=dict)
    """User-defined functions."""
    is_builtin: Callable[[str], bool] = lambda _: True
    """Whether the engine itself has a function of that name."""
    most_sets: int = 64
    """How many grouping sets one query may have."""
    ctes: Mapping[str, Lowered] = field(default_factory=dict)
    domain: Domain | None = None
    """The rows that the query to be lowered next is computed for, if it is a correlated one."""

    def fresh(self, label: str, type: str | None = None) -> Column:
        """A new column: the label, made unique by a number."""
        self.memory.counter += 1
        return Column(f"{label}_{self.memory.counter}", type)

    def note(self, text: str) -> None:
        """Warn, once."""
        if text not in self.memory.notes:
            self.memory.notes.append(text)

    @property
    def user_aggregates(self) -> frozenset[str]:
        """The names by which the engine knows user-defined aggregates."""
        return frozenset(f.engine_name for f in self.functions.values() if f.kind is Kind.AGGREGATE)

    def remember(self, found: Volatile) -> None:
        """Note a function that does not always answer the same, once."""
        if found not in self.memory.volatile:
            self.memory.volatile.append(found)

    def with_ctes(self, ctes: Mapping[str, Lowered]) -> Context:
        return replace(self, ctes=ctes)

    def undivided(self) -> Context:
        """The context of a query that reads nothing around it."""
        return replace(self, domain=None)

    def reading(self, text: str) -> Context:
        """The context inside a view: its own text, which is Spark's SQL, no CTEs of the query around."""
        return replace(self, text=text, dialect="spark", ctes={}, domain=None)

    def another(self, lowered: Lowered) -> Lowered:
        """The same relation under new column names, to stand beside itself."""
        items = tuple(
            Item(self.fresh(label, column.type), col(column.name))
            for label, column in zip(lowered.labels, lowered.plan.columns, strict=True)
        )
        return Lowered(Project(lowered.plan, items), lowered.labels)
