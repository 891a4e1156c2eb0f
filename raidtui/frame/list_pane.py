"""A pane of a list and what is known of its chosen row: below it, or beside it in a wide window."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from msgspec import Struct
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widget import Widget

from raidtui.frame.commands import DOWN, UP
from raidtui.frame.lines import Lines, ScrollLines
from raidtui.frame.painting import painted
from raidtui.frame.pane import Pane
from raidtui.view.line import Line, rule_line
from raidtui.watch.watch import Report

Row = TypeVar("Row")
_DETAIL_CELLS = 70
"""The least that details need to be beside the list."""
_AROUND = 4
"""Rows of a window for header, tabs and footer."""
_DETAIL_ROWS = 14
"""What a list leaves to the details in a high window, where it has more than its share."""


_LEAST_FURTHER = 8
"""What is known besides is shown in no less lines."""
Further = Callable[[int, int], list[Line]]


class PanelRoom(Struct, frozen=True, kw_only=True):
    """What a pane is drawn in.

    Args:
        list_cells: of the list.
        detail_cells: of the details.
        rows: of both together.
        beside: whether the details are beside the list.
    """

    list_cells: int
    detail_cells: int
    rows: int
    beside: bool


class Rows(NamedTuple):
    """Rows of one or more lines, some with a heading above.

    Args:
        lines: all of them.
        places: which of them are each row's.
    """

    lines: Sequence[Line] = ()
    places: Sequence[range] = ()


NO_ROWS = Rows()


def rows_of(blocks: Iterable[Sequence[Line]], headings: Mapping[int, Line] | None = None) -> Rows:
    """Return rows of the lines of each, with a heading above those that have one, by their numbers."""
    lines: list[Line] = []
    places: list[range] = []
    for number, block in enumerate(blocks):
        if headings is not None and number in headings:
            lines.append(headings[number])
        places.append(range(len(lines), len(lines) + len(block)))
        lines += block
    return Rows(lines, places)


class PanelPane(Pane):
    """A pane of two panels, the list and the details.

    Below each other, the list takes the rows that it needs, up to its share of the window; in a high one, up
    to all but a few. The details have the rest. Beside each other, each has the whole height and a title.

    Args:
        report: the last report; None before the first.
    """

    STEM: ClassVar[str]
    """How the ids of its parts begin."""
    NAME: ClassVar[str]
    """What the list is of, as its title says."""
    LIST_CELLS: ClassVar[int]
    """The least that the list takes where the details are beside it."""
    LIST_SHARE: ClassVar[float] = 0.5
    """Its part of the rows where the details are below it, even in a low window."""
    rule: Lines
    body: ScrollLines

    def __init__(self, report: Report | None) -> None:
        super().__init__(report)
        self.title = Lines(id=f"{self.STEM}-title", lines=[[]])
        self._listed = 1
        self.more = Lines(id=f"{self.STEM}-more")
        self.title.display = self.more.display = False

    def above(self) -> Iterable[Lines]:
        """Return what is between the list's title and its rows."""
        return ()

    def compose(self) -> ComposeResult:
        """Both panels."""
        yield Vertical(self.title, *self.above(), self.rows, self.more, classes="list-panel")
        yield Vertical(self.rule, self.body, classes="detail-panel")

    @property
    def room(self) -> PanelRoom:
        """What there is to draw in now."""
        width, height = self.app.size
        beside = width >= self.LIST_CELLS + _DETAIL_CELLS
        cells = max(self.LIST_CELLS, width * 2 // 5) if beside else width
        return PanelRoom(
            list_cells=cells,
            detail_cells=width - cells if beside else width,
            rows=max(1, height - _AROUND),
            beside=beside,
        )

    def lay_out(self, room: PanelRoom, count: int) -> None:
        """Give the list its place and its rows.

        Args:
            room: what there is.
            count: how many lines the list has.
        """
        if self.has_class("-beside") is not room.beside:
            self.set_class(room.beside, "-beside")
            self.title.display = room.beside
        panel = self.rows.parent
        if isinstance(panel, Widget):
            panel.styles.width = room.list_cells if room.beside else "1fr"
        self._listed = max(1, min(count, self.most_rows(room)))
        self.rows.styles.height = self._listed

    def most_rows(self, room: PanelRoom) -> int:
        """Return how many lines of the list can be in view."""
        if room.beside:
            return room.rows - self._heads - 1
        return max(int(room.rows * self.LIST_SHARE), room.rows - _DETAIL_ROWS)

    def show_body(
        self, room: PanelRoom, lines: list[Line], title: str = "", further: Further | None = None
    ) -> None:
        """Show the details; and where rows are free, below the list or below them, what is known besides.

        Args:
            room: what there is to draw in.
            lines: the details.
            title: of what is known besides.
            further: makes it, for so many cells and lines.
        """
        cells = room.list_cells if room.beside else room.detail_cells
        free = room.rows - self._heads - self._listed - 2
        free -= 1 if room.beside else len(self.rule.lines) + len(lines)
        more = further(cells, free) if further is not None and free >= _LEAST_FURTHER else []
        if more:
            more = [[], rule_line(cells, title), *more]
        self.more.display = room.beside and bool(more)
        self.more.show(more if room.beside else [])
        self.body.show(lines if room.beside else [*lines, *more])

    @property
    def _heads(self) -> int:
        """How many lines are between the list's title and its rows."""
        return sum(len(each.lines) for each in self.above() if each.display)

    def show_titles(self, room: PanelRoom, title: str, facts: Iterable[str] = ()) -> None:
        """Show the titles of both panels; below each other they share the rule.

        Args:
            room: what there is.
            title: of the details, where they are beside the list.
            facts: about the list, for its title or the rule.
        """
        if room.beside:
            self.title.show([rule_line(room.list_cells, self.NAME, facts)])
            self.show_rule(rule_line(room.detail_cells, title))
        else:
            self.show_rule(rule_line(room.detail_cells, "", facts))

    def show_rule(self, line: Line) -> None:
        """Show the rule above the details."""
        self.rule.show([line])


class ListPane(PanelPane, Generic[Row]):
    """A pane of rows, of which one is chosen by what it is, and what is known of that row.

    Args:
        report: the last report; None before the first.
    """

    OTHERWISE: ClassVar[int | None] = 0
    """The place that is chosen where the chosen row is not listed; None for none."""

    def __init__(self, report: Report | None) -> None:
        super().__init__(report)
        self.chosen: Any = None
        """The key of the chosen row."""
        self.rows: RowList = self.make_rows()
        self.rule = Lines(id=f"{self.STEM}-rule", lines=[[]])
        self.body = BodyLines(id=f"{self.STEM}-body")

    def make_rows(self) -> RowList:
        """Return what shows the rows."""
        return RowList(self.move, id=f"{self.STEM}-list")

    def listed(self) -> Sequence[Row]:
        """Return the rows that are listed, filtered."""
        raise NotImplementedError

    def key_of(self, row: Row) -> object:
        """Return what a row is known by, when others come and go."""
        raise NotImplementedError

    @property
    def place(self) -> int | None:
        """The number of the chosen row; None where none is."""
        keys = [self.key_of(row) for row in self.listed()]
        if self.chosen in keys:
            return keys.index(self.chosen)
        return self.OTHERWISE if keys else None

    @property
    def row(self) -> Row | None:
        """The chosen row."""
        place = self.place
        return self.listed()[place] if place is not None else None

    def move(self, delta: int) -> None:
        """Choose the row ``delta`` further down."""
        rows = self.listed()
        if rows:
            self.chosen = self.key_of(rows[max(0, min(len(rows) - 1, (self.place or 0) + delta))])
            self.redraw()

    def show_rows(self, room: PanelRoom, rows: Sequence[Line], nothing: Line, whole: Rows = NO_ROWS) -> None:
        """Show the rows with the chosen one in view; a sentence where there is none.

        Args:
            room: what there is to draw in.
            rows: a line for each.
            nothing: the sentence.
            whole: the rows without cuts and with their headings, shown where all have room.
        """
        place = self.place
        fits = len(rows) < len(whole.lines) <= self.most_rows(room)
        self.rows.places = whole.places if fits else ()
        shown = whole.lines if fits else rows or [nothing]
        at = None if place is None else whole.places[place] if fits else range(place, place + 1)
        self.lay_out(room, len(shown))
        self.rows.show(shown, selected=at)
        if at is not None:
            self.rows.keep_in_view(at[0] if place else 0, at[-1])


class BodyLines(ScrollLines, can_focus=True):
    """What is known of the chosen row; it scrolls."""


class RowList(ScrollLines, can_focus=True, inherit_bindings=False):
    """Rows of which one is chosen, which stays in view. Keys move the choice; so does a click.

    The page keys, too, are bindings: one that is typed before the list has the focus reaches it as a binding
    alone, and Textual's own would scroll the rows without the choice.

    Args:
        move: chooses the row so many rows further down.
        id: the widget's, for the style sheet.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *UP.bindings,
        *DOWN.bindings,
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home", "move(-1000000)", show=False),
        Binding("end", "move(1000000)", show=False),
    ]

    def __init__(self, move: Callable[[int], None], *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self._move = move  # a message could be overtaken by the next key
        self.places: Sequence[range] = ()
        """The lines of each row, where they are not one each."""

    def action_move(self, delta: int) -> None:
        """Choose the row ``delta`` further down."""
        with painted(self):
            self._move(delta)

    def action_page(self, pages: int) -> None:
        """Choose the row so many pages further down."""
        self.action_move(pages * max(1, self.size.height))

    def on_click(self, event: events.Click) -> None:
        """Choose the row under the mouse."""
        line, chosen = event.y + self.scroll_offset.y, self._selected
        if not chosen or line >= len(self.lines):
            return
        if not self.places:
            self.action_move(line - chosen[0])
            return
        for number, place in enumerate(self.places):
            if line in place:
                self.action_move(number - self.places.index(chosen))
