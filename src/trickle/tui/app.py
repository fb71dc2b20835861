"""The screen: five pages over one board, and keys that say what shall be done."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
from ..sql.grammar.cursor import table_name
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

    def __init__(self, ledger: Ledger, connect: Callable[[], Session], every: float = 1.0) -> None:
        super().__init__()
        self.ledger, self.connect, self.every = ledger, connect, every
        self.board = Board()
        self.session: Session | None = None
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
            board = Board.read(self.ledger)
        except TrickleError as error:
            self.call_from_thread(self.say, f"the catalog cannot be read: {error.message}")
            return
        self.call_from_thread(self.draw, board)

    def draw(self, board: Board) -> None:
        self.board = board
        self.sub_title = board.title()
        fill(self.tables, overview(board))
        fill(self.refreshes, log(board))
        self.ill.update(health(board))
        self.picture.update(board.graph or "no stream tables")
        self._draw_detail()

    def _draw_detail(self) -> None:
        self.detail.update(detail(self.board, self.chosen() or ""))

    def say(self, text: str) -> None:
        self.said.update(text)

    def chosen(self) -> str | None:
        """The stream table that the cursor stands on."""
        names = self.board.names()
        at = self.tables.cursor_row
        return names[at] if 0 <= at < len(names) else None

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
        self._do("paused", lambda name: control.hold(self.ledger, table_name(name)))

    def action_resume(self) -> None:
        self._do("resumed", lambda name: control.release(self.ledger, table_name(name)))

    def action_pause_all(self) -> None:
        control.pause(self.ledger)
        self.say("all schedulers of this lake are paused")
        self.look()

    def action_resume_all(self) -> None:
        control.resume(self.ledger)
        self.say("all schedulers of this lake go on")
        self.look()

    def action_reset_fuse(self) -> None:
        name = self.chosen()
        if name is None or not any(f.name == name and f.state == "blown" for f in self.board.fuses):
            self.say(f"the fuse of {name} is not blown")
            return

        def reset(action: str | None) -> None:
            if action is not None:
                self._do(f"fuse reset: {action}", lambda n: fuse.reset_fuse(self.ledger, table_name(n), action))

        self.push_screen(FuseScreen(name), reset)

    def _do(self, done: str, work: Callable[[str], object]) -> None:
        """Something that the catalog takes at once, on the stream table that is chosen."""
        name = self.chosen()
        if name is None:
            self.say("no stream table is chosen")
            return
        try:
            work(name)
        except TrickleError as error:
            self.say(f"{name}: {error.told}\n{error.hint}")
            return
        self.say(f"{name}: {done}")
        self.look()

    def action_refresh_table(self) -> None:
        name = self.chosen()
        if name is not None:
            self.run_refresh(name)

    @work(thread=True, group="refresh")
    def run_refresh(self, name: str) -> None:
        """Spark is started for the first one; the screen goes on meanwhile."""
        try:
            if self.session is None:
                self.call_from_thread(self.say, f"{name}: starting Spark, some seconds …")
                self.session = self.connect()
            self.call_from_thread(self.say, f"{name}: refreshing …")
            done = self.session.refresh_stream_table(name)
        except TrickleError as error:
            self.call_from_thread(self.say, f"{name}: {error.told}\n{error.hint}")
            return
        did = " ".join(filter(None, (done.action, done.reason)))
        touched, took = rows(done.rows_inserted, done.rows_deleted), milliseconds(done.duration_ms)
        self.call_from_thread(self.say, f"{name}: {did}, {touched} rows in {took}")
        self.call_from_thread(self.look)

    def on_unmount(self) -> None:
        if self.session is not None:
            self.session.close()


def fill(table: DataTable[Cell], lines: Iterable[tuple[Cell, ...]]) -> None:
    """The lines in place of those that are there; the cursor stays where it is."""
    at = table.cursor_row
    table.clear()
    for line in lines:
        table.add_row(*line)
    table.move_cursor(row=min(at, max(table.row_count - 1, 0)))
