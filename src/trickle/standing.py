"""Standing plans: what Spark planned of a statement, run again over other rows, by the thread that asks.

A small refresh runs the same few statements each time. To analyze and plan one takes Spark 20 to 60 ms, and to run it
as a job some 30 more, of which its rows take one or two. So a statement that comes again and again is planned once
over relations of which nothing is known but their columns, which makes the plan right for any rows. What its one task
would do is kept as well; from then on rows are put below it, and it is gone through in place, without a job.

This uses parts of Spark that are no API. Where they are not as expected (Spark Connect, another version, a plan that
exchanges rows or has subqueries) and where a run fails, the statement is run as any other, and fails as any other.
"""

from __future__ import annotations

import logging
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakKeyDictionary

import pyarrow as pa
from py4j.clientserver import ClientServer
from pyarrow import ipc

from . import views
from .handing import as_told, local_frame, queried, wants_large
from .learning import once
from .regulars import Regulars
from .spark import agreed, compiled, make_active

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

AFTER = 1
"""Times that a statement is run as any other before it gets a standing plan."""
MOST = 500
"""Standing plans of a session."""
_PAGE = "256k"
"""Memory that an operator takes at once; Spark's default is many megabytes, which are cleared for each."""
_FIXED = frozenset({"LocalTableScanExec", "OneRowRelationExec", "EmptyRelationExec"})
"""Leaves with rows that the statement brings along."""
_EACH_WITH_EACH = frozenset({"CartesianProductExec", "BroadcastNestedLoopJoinExec"})
_COMPILED: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""Connection to a JVM → the class of tasks there."""
_COMPILING = threading.Lock()
_log = logging.getLogger(__name__)


class Relation(Protocol):
    """Rows that the driver holds."""

    @property
    def seen(self) -> StructType:
        """The columns as Spark sees them."""

    def batches(self, spark: SparkSession, large: bool) -> Any:
        """The rows as Arrow batches in the JVM; None where they cannot go there so."""


Relations = Mapping[str, Relation]
Ready = Callable[[], pa.Table]


class Unfit(Exception):
    """Why a statement gets no standing plan."""


@dataclass
class Standing:
    """The standing plans of one session."""

    spark: SparkSession
    _plans: Regulars[object, Plan | str] = field(default_factory=lambda: Regulars(MOST, AFTER))
    """By text, columns of the relations and what expressions mean; or why a statement gets none."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @cached_property
    def tools(self) -> Tools:
        return Tools.of(self.spark)

    def ready(self, text: str, relations: Relations, restore: Callable[[], None], many: bool = False) -> Ready | None:
        """What gives the rows of a statement; None where it is to be run as any other.

        `restore` lets SQL read the relations by their names again, which others had while the statement was planned.
        `many`: there are many rows, so each may not be held against all others.
        """
        key = self._key(text, relations)
        try:
            plan = self._plan(key, lambda: self._made(text, relations, restore))
            if plan is None or (many and plan.is_for_few):
                return None
            return self._guarded(key, plan, plan.over(relations), many)
        except Exception as error:
            self._give_up(key, error)
            return None

    def is_to_come(self, text: str, relations: Relations) -> bool:
        """Whether the statement is run as any other only until it comes again."""
        return self._plans.is_new(self._key(text, relations))

    def _key(self, text: str, relations: Relations) -> object:
        return text, agreed(self.spark), tuple((name, rows.seen.json()) for name, rows in relations.items())

    def _made(self, text: str, relations: Relations, restore: Callable[[], None]) -> Plan:
        try:
            return planned(self.spark, self.tools, text, relations)
        finally:
            restore()

    def _plan(self, key: object, make: Callable[[], Plan]) -> Plan | None:
        with self._lock:
            known = self._plans.get(key)
            if known is None and self._plans.is_regular(key):
                with once():
                    known = make()
                self._plans.keep(key, known)
        return known if isinstance(known, Plan) else None

    def _guarded(self, key: object, plan: Plan, ready: Ready, many: bool) -> Ready:
        """The same; what fails is run as any other, this time and from then on: over many rows, or always."""

        def run() -> pa.Table:
            try:
                return ready()
            except Exception as error:
                if many:
                    plan.is_for_few = True
                else:
                    self._give_up(key, error)
                raise Unfit from error

        return run

    def _give_up(self, key: object, error: Exception) -> None:
        _log.debug("no standing plan: %s", error)
        with self._lock:
            self._plans.keep(key, str(error))


@dataclass
class Plan:
    """What the task of a statement does, over relations that rows are put into."""

    spark: SparkSession
    task: Any
    """The task in the JVM (`StandingTask.java`)."""
    relations: Sequence[str]
    """In the order that the task knows them."""
    schema: StructType
    large: bool
    """Whether texts are sent in the form for more than two gigabytes."""
    is_for_few: bool
    """Whether it does not do for many rows: each would meet each, or it failed."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def over(self, relations: Relations) -> Ready:
        rows = [relations[name].batches(self.spark, self.large) for name in self.relations]
        if None in rows:
            raise Unfit("types that only PySpark hands over")

        def run() -> pa.Table:
            with self._lock:
                for number, batches in enumerate(rows):
                    self.task.put(number, batches)
                return self._collected()

        return run

    def _collected(self) -> pa.Table:
        """By way of a file: for more than some kilobytes, the connection to the JVM takes longer than all the rest."""
        with tempfile.NamedTemporaryFile(prefix="trickle-") as file:
            self.task.run(file.name)
            found = [ipc.open_stream(batch).read_all() for batch in _batches(file.read())]
        if found:
            return as_told(pa.concat_tables(found), lambda: self.schema)
        from pyspark.sql.pandas.types import to_arrow_schema

        return to_arrow_schema(self.schema, timezone="UTC", prefers_large_types=self.large).empty_table()


@dataclass
class Tools:
    """What of Spark's inside is needed, found once."""

    jvm: Any
    context: Any
    tasks: Any
    """What makes the tasks of statements."""

    @classmethod
    def of(cls, spark: SparkSession) -> Tools:
        context = spark.sparkContext
        if not isinstance(context._gateway, ClientServer):
            raise Unfit("calls of one thread may reach several in the JVM")
        jvm: Any = context._jvm
        with _COMPILING:
            if context._gateway not in _COMPILED:
                _COMPILED[context._gateway] = _task_class(jvm)
        conf = context._jsc.sc().conf().clone().set("spark.buffer.pageSize", _PAGE)
        memory = _module(jvm.org.apache.spark.memory, "UnifiedMemoryManager").apply(conf, 1)
        return cls(jvm, context, _COMPILED[context._gateway].newInstance().using(memory))

    @contextmanager
    def named(self) -> Iterator[None]:
        """Spark need not walk its stack at each step of a plan to see who asks: `called` says the long form already."""
        site = "callSite.short"
        self.context.setLocalProperty(site, "trickle")
        try:
            yield
        finally:
            self.context.setLocalProperty(site, None)


def _task_class(jvm: Any) -> Any:
    """By the compiler that Spark brings for its own generated classes; once in a JVM, as py4j knows one of a name."""
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook(files("trickle").joinpath("StandingTask.java").read_text(encoding="utf-8"))
    return compiler.getClassLoader().loadClass("org.apache.spark.trickle.StandingTask")


def planned(spark: SparkSession, tools: Tools, text: str, relations: Relations) -> Plan:
    """Over relations of which only the columns are known."""
    large = wants_large(spark)
    blanks = {name: _blank(spark, rows.seen, large) for name, rows in relations.items()}
    for name, blank in blanks.items():
        views.show(blank, name)
    with compiled(spark):
        made = queried(spark, text)
        plan = made._jdf.queryExecution().executedPlan()
        make_active(spark)  # what is made from here on belongs to it
        if not plan.subqueriesAll().isEmpty():
            raise Unfit("subqueries")
        sources = {name: blank._jdf.queryExecution().analyzed().rdd() for name, blank in blanks.items()}
        _check(plan, {rdd.id() for rdd in sources.values()})
        with tools.named():
            distributed = plan.execute()
        if _exchanges(distributed):
            raise Unfit("exchanges rows")
    state = spark._jsparkSession.sessionState().conf()  # the desk's: to compile what each run makes anew does not pay
    pieces = tools.jvm.java.util.ArrayList()
    for rdd in sources.values():
        pieces.add(_piece(rdd))
    settings = tools.jvm.scala.jdk.javaapi.CollectionConverters.asJava(state.getAllConfs())
    zone = state.sessionLocalTimeZone()
    task = tools.tasks.of(distributed, pieces, plan.schema(), settings, zone, large)
    return Plan(spark, task, list(sources), made.schema, large, is_for_few=_multiplies(plan))


def _blank(spark: SparkSession, seen: StructType, large: bool) -> DataFrame:
    """A relation of these columns, as of many rows: the planner sees none of them, so it relies on none."""
    from pyspark.sql.pandas.types import to_arrow_schema

    nothing = to_arrow_schema(seen, timezone="UTC", prefers_large_types=large).empty_table()
    return local_frame(spark, nothing, seen, as_many=True)


def _piece(rdd: Any) -> Any:
    """The partition of Arrow batches that an RDD makes its rows of."""
    return rdd.dependencies().apply(0).rdd().partitions()[0]


def _check(node: Any, blanks: Set[int]) -> None:
    """Whether a plan reads nothing but these RDDs, and exchanges no rows."""
    kind, below = node.getClass().getSimpleName(), node.children()
    is_leaf = below.isEmpty()
    is_blank = is_leaf and kind == "RDDScanExec" and node.rdd().id() in blanks
    if "Exchange" in kind or "Python" in kind or (is_leaf and not is_blank and kind not in _FIXED):
        raise Unfit(kind)
    for n in range(below.size()):
        _check(below.apply(n), blanks)


def _multiplies(node: Any) -> bool:
    below = node.children()
    return node.getClass().getSimpleName() in _EACH_WITH_EACH or any(
        _multiplies(below.apply(n)) for n in range(below.size())
    )


def _exchanges(distributed: Any) -> bool:
    """Whether rows would have to be brought from one task to another, which only a job does."""
    below = distributed.dependencies()
    return any(
        "Shuffle" in (dependency := below.apply(n)).getClass().getSimpleName() or _exchanges(dependency.rdd())
        for n in range(below.size())
    )


def _batches(content: bytes) -> Iterator[memoryview]:
    """Each behind the number of its bytes."""
    left = memoryview(content)
    while left:
        end = 4 + int.from_bytes(left[:4], "big")
        yield left[4:end]
        left = left[end:]


def _module(package: Any, name: str) -> Any:
    return getattr(getattr(package, f"{name}$"), "MODULE$")
