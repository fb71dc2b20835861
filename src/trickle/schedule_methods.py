"""The functions around the scheduler, as methods of a session."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .events import Events, Subscriber, Webhook
from .ops import control
from .ops.streams import Streams
from .scheduler.loop import Scheduler
from .scheduler.notify import notify_through
from .sql.parse import table_name

if TYPE_CHECKING:
    from .config import Settings


class ScheduleMethods:
    """Mixed into `Session`."""

    events: Events

    @property
    def _streams(self) -> Streams:
        raise NotImplementedError

    @property
    def settings(self) -> Settings:
        raise NotImplementedError

    # The scheduler itself.

    def scheduler(self) -> Scheduler:
        """A scheduler of this lake: `run()` it here or in a thread, `stop()` it from anywhere."""
        return Scheduler(self._streams, self.events)

    def run(self, seconds: float | None = None, until_idle: bool = False) -> None:
        """Keep every stream table as fresh as its schedule says: for ever, for so many seconds, or until all are."""
        self.run_scheduler(self.scheduler(), seconds, until_idle)

    def run_scheduler(self, scheduler: Scheduler, seconds: float | None = None, until_idle: bool = False) -> None:
        """The same with a scheduler that somebody may stop; events also go to the settings' webhook and channel."""
        ends: list[Callable[[], None]] = []
        if self.settings["events.webhook"]:
            hook = Webhook(self.settings["events.webhook"])
            ends += [self.events.subscribe(hook), hook.close]
        if self.settings["events.channel"] and not self._streams.lake.catalog.is_sqlite:
            told = notify_through(self._streams.lake.catalog, self.settings["events.channel"])
            ends.append(self.events.subscribe(told))
        try:
            scheduler.run(seconds, until_idle)
        finally:
            for end in ends:
                end()

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Tell a function of every event of the schedulers of this session; call what is returned to end that."""
        return self.events.subscribe(subscriber)

    def pause(self, name: str | None = None) -> None:
        """Keep the schedulers of the lake from starting refreshes: all, or those of one stream table."""
        if name is None:
            control.pause(self._streams)
        else:
            self._streams.suspend(table_name(name))

    def resume(self, name: str | None = None) -> None:
        """Let them start again."""
        if name is None:
            control.resume(self._streams)
        else:
            self._streams.resume(table_name(name))
