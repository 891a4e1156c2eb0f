"""Help: the keys of the pane in view, and why some cannot be used now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.reactive import Reactive
from textual.widget import Widget

from raidtui.frame.commands import EVERYWHERE, HELP
from raidtui.frame.dialog import Dialog
from raidtui.frame.lines import Lines
from raidtui.frame.list_pane import BodyLines
from raidtui.frame.pane import Pane
from raidtui.frame.stock import STOCK
from raidtui.view.line import Line
from raidtui.view.wrapping import wrap, wrapped

_INDENT, _WIDTH = 19, 72
_AROUND = 6  # frame, padding, scroll bar
_NOTES = """\
Speed limits: below min, md does not yield to other I/O; above max, it sleeps; in between, other I/O goes
first. If min is above max, min wins, so the sliders keep min at or below max.

On a slider, digits enter MB/s (KiB/s with a k at the end); Enter applies them, Esc returns to the list.

RAID-10: resync, check and repair count KiB of the array, recovery counts KiB of a member. The same limit
is half as much per disk for a resync with near 2 on four disks.

All values are the kernel's. Limits and pauses last until the next reboot, or until you restore them."""


def help_rows(pane: Pane, keymap: Mapping[str, str]) -> list[tuple[str, str, str, str]]:
    """Return the rows (key, label, sentence, refusal) of a pane's commands, then of those everywhere."""
    rows = [
        (command.shown_key(keymap), label, command.help, pane.why_not(command.id))
        for command, label, _ in pane.foot()
    ]
    rows += [(each.shown_key(keymap), each.label, each.help, "") for each in EVERYWHERE if each is not HELP]
    return rows


class HelpScreen(Dialog[None]):
    """Shows rows of (key, label, sentence, refusal), then notes."""

    CSS = """
    HelpScreen { align: center middle; background: transparent; }
    #help {
        width: 78; max-width: 100%; height: 90%; max-height: 100%; border: round $r-accent; padding: 0 1;
        background: $r-background;
    }
    #help-text { height: 1fr; }
    """
    focused: Reactive[Widget | None] = Reactive(None, repaint=STOCK)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1,enter", "close", "Back", show=False),
        Binding("j", "down", show=False),
        Binding("k", "up", show=False),
    ]

    def __init__(self, rows: list[tuple[str, str, str, str]]) -> None:
        super().__init__()
        self._rows = rows
        self._body = BodyLines(id="help-text")
        self._foot = Lines(id="help-foot")

    def compose(self) -> ComposeResult:
        """One scrolling text in a frame."""
        with Vertical(id="help"):
            yield self._body
            yield self._foot

    def on_mount(self) -> None:
        """Draw."""
        self._draw()
        self._foot.show([[(" Esc ", "key"), ("back", "plain")]])
        self._body.focus()

    def on_resize(self) -> None:
        """Draw in the new size."""
        self._draw()

    def _draw(self) -> None:
        """Lay the rows and notes out in lines that fit."""
        width = min(_WIDTH, self.app.size.width - _AROUND)
        lines: list[Line] = [[("Keys", "strong")]]
        for key, label, sentence, refusal in self._rows:
            role = "dim" if refusal else "plain"
            first, *more = wrap(sentence, width - _INDENT) or ("",)
            lines.append([(f" {key:<6} ", "key"), (f"{label:<10} ", "strong"), (first, role)])
            lines += [[(" " * _INDENT + part, role)] for part in more]
            if refusal:
                lines += wrapped(f"not now: {refusal}", width, "warn", indent=_INDENT)
        for note in _NOTES.split("\n\n"):
            lines.append([])
            lines += wrapped(note.replace("\n", " "), width, indent=1)
        self._body.show(lines)

    def action_close(self) -> None:
        """Close the help."""
        self.dismiss()

    def action_down(self) -> None:
        """Scroll down."""
        self._body.scroll_down(animate=False)

    def action_up(self) -> None:
        """Scroll up."""
        self._body.scroll_up(animate=False)
