"""The screen: five pages over one board, and keys that say what shall be done."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import DataTable, Footer, Header, OptionList, Static, TabbedContent, TabPane
from textual.widgets.option_list import Option

from ..errors import TrickleError
from ..ops import control, fuse
from ..ops.ledger import Ledger
from ..ops.words import milliseconds, rows
from ..sql.names import Name
from .board import LOG, OVERVIEW, Board, Cell, detail, health, log, overview

if TYPE_CHECKING:
    from ..session import Session

WELCOME = "arrows choose a stream table, enter opens it, 1 to 5 turn the pages"
CHOICES = {
    "apply": "let the change through",
    "reinitialize": "compute the table anew",
    "skip_changes": "leave the change out, for good",
}
PAGES = ("overview", "table", "graph", "log", "health")


class FuseScreen(ModalScreen[str | None]):
    """What shall become of the changes that a blown fuse held back."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "back")]
    CSS = """
    FuseScreen { align: center middle; }
    OptionList { border: none; margin-top: 1; }
    #fuse { width: 60; height: auto; border: round $primary; padding: 1 2; background: $surface; }
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.table = name

    def compose(self) -> ComposeResult:
        with Vertical(id="fuse"):
            yield Static(f"The fuse of {self.table} held changes back. What shall become of them?", markup=False)
            yield OptionList(*(Option(f"{action}: {CHOICES[action]}", id=action) for action in fuse.ACTIONS))

    def on_mount(self) -> None:
        choices = self.query_one(OptionList)
        choices.highlighted = 0
        choices.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id)


class Watch(App[None]):
    """Reads the catalog every so many seconds; only a refresh starts Spark, in a thread, with a word about it."""

    TITLE = "trickle"
    CSS = """
    TabbedContent, DataTable { height: 1fr; }
    #said { height: auto; max-height: 6; padding: 0 1; background: $boost; }
    TabPane { padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(n), f"page('{page}')", page, show=False) for n, page in enumerate(PAGES, 1)),
        Binding("r", "refresh_table", "refresh"),
        Binding("p", "pause", "pause"),
        Binding("u", "resume", "resume"),
        Binding("f", "reset_fuse", "reset fuse"),
        Binding("P", "pause_all", "pause all"),
        Binding("U", "resume_all", "resume all"),
        Binding("q", "quit", "quit"),
    ]

    def __init__(
        self, ledger: Ledger, connect: Callable[[], Session], every: float = 1.0, silence: float = 15.0
    ) -> None:
        """A scheduler that was silent for longer than so many seconds is gone."""
        super().__init__()
        self.ledger, self.connect, self.every, self.silence = ledger, connect, every, silence
        self.board = Board()
        self.session: Session | None = None
        self._opening = threading.Lock()
        self._refreshing: set[Name] = set()
        # Held, not looked up: a query finds only what is on the topmost screen.
        self.tables: DataTable[Cell] = DataTable(id="tables", cursor_type="row")
        self.refreshes: DataTable[Cell] = DataTable(id="refreshes", cursor_type="row")
        self.ill = Static(id="ill", markup=False)
        self.detail = Static(id="detail", markup=False)
        self.picture = Static(id="picture", markup=False)
        self.said = Static(WELCOME, id="said", markup=False)

    # What is seen.

    def compose(self) -> ComposeResult:
        yield Header(icon="")
        with TabbedContent(initial="overview"):
            with TabPane("1 overview", id="overview"):
                yield self.tables
            with TabPane("2 table", id="table"), VerticalScroll():
                yield self.detail
            with TabPane("3 graph", id="graph"), VerticalScroll():
                yield self.picture
            with TabPane("4 log", id="log"):
                yield self.refreshes
            with TabPane("5 health", id="health"), VerticalScroll():
                yield self.ill
        yield self.said
        yield Footer()

    def on_mount(self) -> None:
        for table, columns in ((self.tables, OVERVIEW), (self.refreshes, LOG)):
            table.add_columns(*columns)
        self.tables.focus()
        self.look()
        self.set_interval(self.every, self.look)

    @work(thread=True, exclusive=True, group="look")
    def look(self) -> None:
        """Ask the catalog, then draw."""
        try:
            board = Board.read(self.ledger, self.silence)
        except TrickleError as error:
            self.call_from_thread(self.say, f"the catalog cannot be read: {error.message}")
            return
        self.call_from_thread(self.draw, board)

    def draw(self, board: Board) -> None:
        self.board = board
        self.sub_title = board.title()
        fill(self.tables, overview(board), [name.quote_spark() for name in board.names()])
        fill(self.refreshes, log(board))
        self.ill.update(health(board))
        self.picture.update(board.graph or "no stream tables")
        self._draw_detail()

    def _draw_detail(self) -> None:
        name = self.chosen()
        self.detail.update(detail(self.board, name.label if name else ""))

    def say(self, text: str) -> None:
        self.said.update(text)

    def chosen(self) -> Name | None:
        """The stream table that the cursor stands on: by its line's key, since lines come and go."""
        at = key_at(self.tables)
        return next((name for name in self.board.names() if name.quote_spark() == at), None)

    def on_data_table_row_highlighted(self) -> None:
        self._draw_detail()

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        if event.data_table.id == "tables":
            self.action_page("table")

    # What is done.

    def action_page(self, page: str) -> None:
        self.query_one(TabbedContent).active = page
        if page == "overview":
            self.tables.focus()

    def action_pause(self) -> None:
        if name := self._wanted():
            self._do(f"{name.label}: paused", lambda: control.hold(self.ledger, name))

    def action_resume(self) -> None:
        if name := self._wanted():
            self._do(f"{name.label}: resumed", lambda: control.release(self.ledger, name))

    def action_pause_all(self) -> None:
        self._do("all schedulers of this lake are paused", lambda: control.pause(self.ledger))

    def action_resume_all(self) -> None:
        self._do("all schedulers of this lake go on", lambda: control.resume(self.ledger))

    def action_reset_fuse(self) -> None:
        name = self._wanted()
        if name is None:
            return
        if not any(f.name == name.label and f.state == "blown" for f in self.board.fuses):
            self.say(f"the fuse of {name.label} is not blown")
            return

        def reset(action: str | None) -> None:
            # The table of the question, wherever the cursor may stand when it is answered.
            if action is not None:
                said = f"{name.label}: fuse reset: {action}"
                self._do(said, lambda: fuse.reset_fuse(self.ledger, name, action))

        self.push_screen(FuseScreen(name.label), reset)

    def _wanted(self) -> Name | None:
        """The chosen stream table, or a word that there is none."""
        name = self.chosen()
        if name is None:
            self.say("no stream table is chosen")
        return name

    def _do(self, done: str, work: Callable[[], object]) -> None:
        """Something that the catalog takes at once."""
        try:
            work()
        except TrickleError as error:
            self.say(f"{error.told}\n{error.hint}")
            return
        self.say(done)
        self.look()

    def action_refresh_table(self) -> None:
        name = self._wanted()
        if name in self._refreshing:
            self.say(f"{name.label}: is being refreshed already")
        elif name is not None:
            self._refreshing.add(name)
            self.run_refresh(name)

    @work(thread=True, group="refresh")
    def run_refresh(self, name: Name) -> None:
        """In a thread: the screen goes on meanwhile, and whatever goes wrong is said there."""
        try:
            said = self._refreshed(name)
        except TrickleError as error:
            said = f"{name.label}: {error.told}\n{error.hint}"
        except Exception as error:
            said = f"{name.label}: {type(error).__name__}: {error}"
        finally:
            self._refreshing.discard(name)
        self.call_from_thread(self.say, said)
        self.call_from_thread(self.look)

    def _refreshed(self, name: Name) -> str:
        session = self._opened(name)
        self.call_from_thread(self.say, f"{name.label}: refreshing …")
        done = session.refresh_stream_table(name.quote_spark())
        did = " ".join(filter(None, (done.action, done.reason)))
        touched, took = rows(done.rows_inserted, done.rows_deleted), milliseconds(done.duration_ms)
        return f"{name.label}: {did}, {touched} rows in {took}"

    def _opened(self, name: Name) -> Session:
        """The one session of this screen; Spark is started for the first refresh."""
        with self._opening:
            if self.session is None:
                self.call_from_thread(self.say, f"{name.label}: starting Spark, some seconds …")
                self.session = self.connect()
            return self.session

    def on_unmount(self) -> None:
        if self.session is not None:
            self.session.close()


def key_at(table: DataTable[Cell]) -> str | None:
    """The key of the line that the cursor stands on."""
    if not table.is_valid_coordinate(table.cursor_coordinate):
        return None
    return table.coordinate_to_cell_key(table.cursor_coordinate).row_key.value


def fill(table: DataTable[Cell], lines: Iterable[tuple[Cell, ...]], keys: Sequence[str] = ()) -> None:
    """The lines in place of those that are there; the cursor stays with its key, or where it is if that is gone."""
    before, at = key_at(table), table.cursor_row
    table.clear()
    for n, line in enumerate(lines):
        table.add_row(*line, key=keys[n] if keys else None)
    place = keys.index(before) if before in keys else min(at, max(table.row_count - 1, 0))
    table.move_cursor(row=place)
