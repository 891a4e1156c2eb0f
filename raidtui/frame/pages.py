"""Dialogs with a title, a body that scrolls and keys at the foot: in a frame, or as a page."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType, NoBinding
from textual.containers import Vertical
from textual.reactive import Reactive
from textual.widget import Widget

from raidtui.frame.dialog import Dialog
from raidtui.frame.lines import Lines, ScrollLines
from raidtui.frame.screen_shell import shell_of
from raidtui.frame.stock import STOCK
from raidtui.frame.textual_private import KeyHook, bindings_for, is_default_prevented
from raidtui.view.line import Line
from raidtui.view.text import cell_width, fit
from raidtui.view.wrapping import wrapped

WIDTH = 92
OLD_S = 300 * 86_400
"""What is older is written with its year."""
_MOST_NOTES = 8
T = TypeVar("T")


class FrameBody(ScrollLines, can_focus=True, inherit_bindings=False):
    """The part that scrolls. The screen alone handles keys, so that a burst of them stays in order."""


class FrameScreen(KeyHook, Dialog[T], Generic[T]):
    """A dialog in a frame. Esc closes it with None."""

    CSS = """
    .frame {
        width: 94; max-width: 100%; height: auto; max-height: 100%; border: round $r-accent; padding: 0 1;
        background: $r-background;
    }
    .frame-body { height: auto; min-height: 1; }
    """
    focused: Reactive[Widget | None] = Reactive(None, repaint=STOCK)
    accepts_type_ahead: ClassVar[bool] = False
    """Whether it takes keys typed before it was shown; never where a key confirms something."""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", show=False),
        Binding("up", "scroll(-1)", show=False),
        Binding("down", "scroll(1)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
        Binding("pagedown", "scroll(10)", show=False),
    ]

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title
        self._ahead: deque[tuple[str, str | None]] = deque()
        self._head = Lines(lines=[[(title, "strong")], []])
        self._body = FrameBody()
        self._body.add_class("frame-body")
        self._foot = Lines(lines=[[], []])
        self.styles.align = ("center", "middle")
        self.styles.background = "transparent"

    def compose(self) -> ComposeResult:
        """Title, body, foot."""
        with Vertical(classes="frame"):
            yield self._head
            yield self._body
            yield self._foot

    @property
    def inner_width(self) -> int:
        """The width of a line, in cells."""
        return max(20, min(WIDTH, self.app.size.width) - 5)  # frame, padding, a scroll bar

    def show_body(self, lines: list[Line], *, selected: int | None = None) -> None:
        """Show the body; ``selected`` is the number of the line with the cursor."""
        self._body.show(lines, selected=selected)
        self._fit()

    def _fit(self) -> None:
        """Give the body what the title and the foot leave: the foot is always in view."""
        taken = len(self._head.lines) + len(self._foot.lines) + 2
        self._body.styles.max_height = max(1, self.app.size.height - taken)

    def on_resize(self) -> None:
        """Fit the body into the new size."""
        self._fit()

    def show_foot(self, *items: tuple[str, str], note: str = "", role: str = "warn") -> None:
        """Show (key, label) pairs at the foot, and a note above them."""
        line: Line = []
        for key, words in items:
            line += [(f" {key} ", "key"), (f"{words}  ", "plain")]
        notes = wrapped(note, self.inner_width, role)[:_MOST_NOTES]
        self._foot.show([[], *notes, line])
        self._fit()

    async def key_pressed(self, event: events.Key) -> None:
        """Run a key's binding at once.

        Textual looks bindings up one message later: letters typed after this key would go to the field that
        the key is to leave.
        """
        if event.key != "escape" and (self._ahead or self.holds_key(event.key)):
            self._ahead.append((event.key, event.character))
            event.stop()
            event.prevent_default()
        else:
            await self._press(event)

    def holds_key(self, key: str) -> bool:
        """Whether a key waits for what is still being read; later keys wait with it."""
        del key
        return False

    def release(self) -> None:
        """Handle the keys that waited: more has been read."""
        if self._ahead:
            self.call_later(self._replay)

    async def _replay(self) -> None:
        while self._ahead and self.is_current and not self.holds_key(self._ahead[0][0]):
            event = events.Key(*self._ahead.popleft())
            if (collect := getattr(self, "on_key", None)) is not None:
                collect(event)
            if not is_default_prevented(event):
                await self._press(event)

    async def _press(self, event: events.Key) -> None:
        with contextlib.suppress(NoBinding):
            for binding in bindings_for(self, event.key):
                if await self.app.run_action(binding.action, default_namespace=self):
                    event.stop()
                    event.prevent_default()
                    return

    def action_scroll(self, lines: int) -> None:
        """Scroll the body."""
        self._body.scroll_relative(y=lines, animate=False)

    def action_back(self) -> None:
        """Close with None."""
        self.dismiss(None)


class PageScreen(FrameScreen[T], Generic[T]):
    """A dialog that fills the window: title, body, keys at the foot, rules between them."""

    CSS = """
    .page { width: 100%; height: 100%; padding: 0 1; background: $r-background; }
    .page .frame-body { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
    ]

    _titles: tuple[str, str] | None = None
    """The title, and what stands at its right; None for a page that draws its head itself."""

    def compose(self) -> ComposeResult:
        """Title, body, foot."""
        with Vertical(classes="page"):
            yield self._head
            yield self._body
            yield self._foot

    @property
    def inner_width(self) -> int:
        """The width of a line, in cells, without the blank on either side."""
        return max(20, self.app.size.width - 2)

    @property
    def inner_height(self) -> int:
        """The number of lines of the body."""
        return max(1, self.app.size.height - len(self._head.lines) - len(self._foot.lines))

    def action_page(self, pages: int) -> None:
        """Scroll the body by pages; two lines stay in view."""
        self._body.scroll_relative(y=pages * max(1, self._body.size.height - 2), animate=False)

    def _fit(self) -> None:
        """Do nothing: the style sheet gives the body what is left."""

    def on_resize(self) -> None:
        """Draw in the new size."""
        self.draw()

    def draw(self) -> None:
        """Draw everything."""

    def show_head(self, title: str, right: str = "") -> None:
        """Show the title, at the right the step, and behind it the host, as far as there is room."""
        self._titles = (title, right)
        self.show_host()

    def show_host(self) -> None:
        """Show the counts of arrays, host, user and time as they are now."""
        if self._titles is None:
            return
        title, right = self._titles
        width = self.inner_width
        room = width - cell_width(right) - 2 if right else width
        lines = shell_of(self).host_lines()
        free = room - cell_width(title) - 3
        host = next((line for line in lines if sum(cell_width(text) for text, _ in line) <= free), [])
        room -= sum(cell_width(text) for text, _ in host) + 3 if host else 0
        head: Line = [(fit(title, room), "strong"), (f"  {right}" if right else "", "plain")]
        self._head.show([[*head, ("   " if host else "", "plain"), *host], rule(width)])

    def show_keys(
        self, *items: tuple[str, str], right: tuple[str, str] | None = None, notes: Sequence[Line] = ()
    ) -> None:
        """Show (key, label) pairs below a rule, one of them at the right; ``notes`` stand above them."""
        width = self.inner_width
        room = width - (cell_width(right[0]) + cell_width(right[1]) + 1 if right is not None else 0)
        line: Line = []
        for key, words in items:
            room -= cell_width(key) + cell_width(words) + 4
            if room < -3:
                break  # the first ones matter most
            line += [(f"{key} ", "key"), (f"{words}   ", "plain")]
        if right is not None:
            key, words = right
            rest = width - sum(cell_width(text) for text, _ in line) - cell_width(key) - 1
            words = words if cell_width(words) <= rest else ""
            line += [(" " * max(0, rest - cell_width(words)), "plain"), (f"{key} ", "key"), (words, "plain")]
        self._foot.show([rule(width), *notes, line])


def rule(width: int) -> Line:
    """Return a horizontal rule."""
    return [("─" * width, "dim")]


_WIDEST = 100


def stamp(at_s: float, now_s: float) -> str:
    """Return a moment of the past, short: ``14 Nov 09:12``; of another year the date."""
    form = "%d %b %H:%M" if now_s - at_s < OLD_S else "%Y-%m-%d"
    return time.strftime(form, time.localtime(at_s)).lstrip("0")


class WhyScreen(PageScreen[None]):
    """Shows paragraphs; a line that begins with a blank stays as it is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark,f1,q,enter", "back", "Back", show=False),
        Binding("k", "scroll(-1)", show=False),
        Binding("j", "scroll(1)", show=False),
        Binding("space", "scroll(10)", show=False),
    ]

    def __init__(self, title: str, page: Sequence[str]) -> None:
        super().__init__(title)
        self._page = page

    def on_mount(self) -> None:
        """Draw."""
        self._body.focus()
        self.draw()

    def draw(self) -> None:
        """Draw everything."""
        self.show_head(self._title)
        width = min(_WIDEST, self.inner_width - 1)
        lines: list[Line] = []
        for text in self._page:
            lines += [[(text, "plain")]] if text[:1] in {"", " "} else wrapped(text, width)
        self.show_body(lines)
        self.show_keys(("↑↓", "scroll"), ("Esc", "back"))
