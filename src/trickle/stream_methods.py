"""The functions on stream tables, as methods of a session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import ConfigError, QueryError
from .ops import explain, facts, functions, units
from .ops.function_record import FunctionRecord
from .ops.maintenance import Caretaker
from .ops.options import read_options, with_defaults
from .ops.streams import Streams
from .records import Records
from .refresh.result import RefreshResult
from .registry.models import StreamTable
from .sql.names import Name
from .sql.parse import table_name


class StreamTableMethods:
    """Mixed into `Session`; every method is also a SQL function of schema `trickle`."""

    _caretaker: Caretaker

    @property
    def _streams(self) -> Streams:
        raise NotImplementedError

    def _require_no_transaction(self, what: str) -> None:
        raise NotImplementedError

    def create_stream_table(
        self,
        name: str,
        query: str,
        schedule: str = "calculated",
        refresh_mode: str = "AUTO",
        initialize: bool = True,
        append_only: bool = False,
        diamond_consistency: str = "atomic",
        diamond_schedule_policy: str = "fastest",
        partition_by: list[str] | str | None = None,
        cluster_by: list[str] | str | None = None,
        cdc_mode: str | None = None,
        fuse: str | None = None,
        dialect: str = "spark",
        **options: Any,
    ) -> StreamTable:
        """Declare a stream table as a query and fill it; from then on refreshes compute only what changed.

            db.create_stream_table("revenue", "SELECT customer, sum(amount) AS total FROM orders GROUP BY customer")

        What is worth knowing (ORDER BY without LIMIT, groups that are rescanned, rows without a key, a diamond) is
        said as a `TrickleWarning`.
        """
        given = {
            "schedule": schedule,
            "refresh_mode": refresh_mode,
            "append_only": append_only,
            "diamond_consistency": diamond_consistency,
            "diamond_schedule_policy": diamond_schedule_policy,
            "partition_by": partition_by,
            "cluster_by": cluster_by,
            "cdc_mode": cdc_mode,
            "fuse": fuse,
            **options,
        }
        self._require_no_transaction("CREATE STREAM TABLE")
        return self._streams.create(table_name(name), query, given, dialect, initialize)

    def create_stream_table_if_not_exists(
        self,
        name: str,
        query: str,
        schedule: str = "calculated",
        refresh_mode: str = "AUTO",
        initialize: bool = True,
        **options: Any,
    ) -> StreamTable:
        """The same, unless there is one of that name already, which then stays as it is."""
        wanted = table_name(name)
        if self._streams.exists(wanted):
            return self._streams.find(wanted)
        return self.create_stream_table(name, query, schedule, refresh_mode, initialize, **options)

    def create_or_replace_stream_table(
        self,
        name: str,
        query: str,
        schedule: str = "calculated",
        refresh_mode: str = "AUTO",
        initialize: bool = True,
        **options: Any,
    ) -> StreamTable:
        """Make the stream table be as said, by the least that is needed: nothing, new options, or a new query.

        db.create_or_replace_stream_table("totals", "SELECT count(*) AS n FROM orders", schedule="5m")
        """
        wanted = table_name(name)
        if not self._streams.exists(wanted):
            return self.create_stream_table(name, query, schedule, refresh_mode, initialize, **options)
        self._require_no_transaction("CREATE OR REPLACE STREAM TABLE")
        table = self._streams.find(wanted)
        dialect = options.pop("dialect", "spark")
        chosen = with_defaults({"schedule": schedule, "refresh_mode": refresh_mode, **options})
        changed = {k: v for k, v in chosen.items() if table.options.get(k) != v}
        same_query = (_normal(table.query), table.dialect) == (_normal(query), dialect)
        if same_query and not changed:
            return table
        return self._streams.alter(wanted, changed, None if same_query else query, dialect)

    def alter_stream_table(
        self,
        name: str,
        query: str | None = None,
        status: str | None = None,
        dialect: str | None = None,
        **options: Any,
    ) -> StreamTable:
        """Change options or the query; `status` SUSPENDED or ACTIVE stops and restarts its refreshes.

        db.alter_stream_table("totals", schedule="1m", target_lag="5m")
        """
        self._require_no_transaction("ALTER STREAM TABLE")
        wanted = table_name(name)
        if status is not None:
            return self._set_status(wanted, status)
        if query is None and not options:
            raise QueryError(f'nothing to alter on stream table "{name}"', hint="pass query=, status= or an option.")
        return self._streams.alter(wanted, read_options(options), query, dialect)

    def _set_status(self, name: Name, status: str) -> StreamTable:
        if status.upper() not in ("ACTIVE", "SUSPENDED"):
            raise ConfigError(f"status cannot be {status!r}", hint="it must be ACTIVE or SUSPENDED.")
        return self._streams.suspend(name) if status.upper() == "SUSPENDED" else self._streams.resume(name)

    def has_stream_table(self, name: str) -> bool:
        """Whether there is a stream table of that name."""
        return self._streams.exists(table_name(name))

    def drop_stream_table(self, name: str, cascade: bool = False, if_exists: bool = False) -> list[str]:
        """Remove a stream table; one that others read needs `cascade`, which removes them too. The names that went."""
        self._require_no_transaction("DROP STREAM TABLE")
        wanted = table_name(name)
        if if_exists and not self._streams.exists(wanted):
            return []
        return self._streams.drop(wanted, cascade)

    def refresh_stream_table(self, name: str, full: bool = False, upstream: bool = True) -> RefreshResult:
        """Bring a stream table to the newest snapshot; stale ones that it reads first, to the same one.

        done = db.refresh_stream_table("revenue")
        done.action, done.rows_inserted, done.rows_deleted
        """
        self._require_no_transaction("REFRESH STREAM TABLE")
        done = self._streams.refresh(table_name(name), full, upstream)
        self._caretaker.after_all_below(done)
        return done

    def refresh_all(self, full: bool = False) -> Records[RefreshResult]:
        """Refresh every stream table, sources before readers, all at one data snapshot; diamonds and refresh groups
        are one commit each."""
        self._require_no_transaction("REFRESH")
        done = units.refresh_all(self._streams, full)
        self._caretaker.after(done)
        return Records(done)

    def stream_table_status(self, name: str | None = None) -> Records[facts.StatusRecord]:
        """How the stream tables stand: mode, data snapshot, lag, last action and reason.

        late = [s.name for s in db.stream_table_status() if s.lag_seconds]
        """
        return facts.status(self._streams, table_name(name) if name else None)

    def refresh_history(self, name: str | None = None, limit: int = 20) -> Records[facts.HistoryRecord]:
        """What refreshes did and why, of one stream table or of all, the newest first.

        Of the duration, `learning_ms` was spent once: on queries and statements that were new to Spark.

        [(line.action, line.reason, line.duration_ms) for line in db.refresh_history("totals", limit=5)]
        """
        return facts.history(self._streams, table_name(name) if name else None, limit)

    def stream_tables(self) -> Records[facts.StreamTableRecord]:
        """Every stream table with its definition."""
        return facts.stream_tables(self._streams)

    def dependencies(self) -> Records[facts.DependencyRecord]:
        """Which stored tables each stream table reads, and which columns of them."""
        return facts.dependencies(self._streams)

    # Functions.

    def create_function(
        self,
        name: str,
        function_or_sql: Callable[..., Any] | str,
        returns: str,
        parameters: str = "",
        deterministic: bool | None = None,
        aggregate: bool = False,
        replace: bool = False,
        if_not_exists: bool = False,
    ) -> FunctionRecord:
        """Define a function of the lake: a Python one, or an expression over `parameters` such as "a INT, b STRING".

        `deterministic=False` says that the same arguments may get another answer; a Python function is taken for
        deterministic unless that is said, of an expression it is seen. An `aggregate` is a Python function that is
        called once for each group, with a pandas Series for each argument. Python functions are stored pickled, and
        run by every session that calls them: connect only to lakes that you trust.
        """
        self._require_no_transaction("CREATE FUNCTION")
        wanted = functions.Wanted(name, function_or_sql, returns, parameters, deterministic, aggregate)
        return functions.create(self._streams, wanted, replace, if_not_exists)

    def drop_function(self, name: str, if_exists: bool = False) -> None:
        """Forget a function; one that stream tables or other functions use is refused."""
        self._require_no_transaction("DROP FUNCTION")
        functions.drop(self._streams, name, if_exists)

    def functions(self) -> Records[FunctionRecord]:
        """Every function of the lake, and which stream tables use it."""
        return functions.listing(self._streams)

    # Explanations.

    def explain_st(self, name: str, analyze: bool = False) -> Records[explain.Explanation]:
        """What a stream table's refresh does: plans, SQL, strategies, hidden columns, what would be scanned.

        With `analyze` it is refreshed, and how long that took is told, too.

            [line.detail for line in db.explain_st("totals") if line.section == "operator"]
        """
        return explain.explain_st(self._streams, table_name(name), analyze)

    def explain_refresh_mode(self, name: str) -> Records[explain.ModeExplanation]:
        """The mode in effect, and what the next refresh would do and why."""
        return explain.explain_refresh_mode(self._streams, table_name(name))

    def explain_query_rewrite(self, query: str, dialect: str = "spark") -> Records[explain.Explanation]:
        """What becomes of a query: views inlined, plan, stored form, change."""
        return explain.explain_query_rewrite(self._streams, query, dialect)

    def validate_query(self, query: str, dialect: str = "spark") -> Records[explain.Validation]:
        """What a query would become as a stream table: mode, constructs, warnings; nothing is created.

        db.validate_query("SELECT * FROM orders ORDER BY id")[0].warnings
        """
        return explain.validate_query(self._streams, query, dialect)

    def list_auxiliary_columns(self, name: str) -> Records[explain.AuxiliaryColumn]:
        """The hidden columns behind a stream table's own, and what each is for."""
        return explain.list_auxiliary_columns(self._streams, table_name(name))


def _normal(query: str) -> str:
    return " ".join(query.split()).rstrip(";")
