"""A benchmark before it is begun. Enter alone never begins it; what is lost wants its serial number typed."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events

from raidtui.bench.ask import Offer
from raidtui.bench.forms.known import Candidate
from raidtui.ui.bench.review_lines import offer_lines
from raidtui.ui.frame.pages import PageScreen
from raidtui.view.line import Line
from raidtui.view.text import cell_width, visible

_LEAST_FIELD = 12
_MOST_TYPED = 128


class BenchReview(PageScreen[Offer]):
    """Gives the offer, or None.

    Args:
        offer: what can be begun.
        devices: those that are overwritten.
        confirmed: serial numbers that were typed for the same loss before.

    Attributes:
        confirmed: and those that were typed since.
    """

    def __init__(
        self, offer: Offer, devices: Sequence[Candidate] = (), *, confirmed: tuple[str, ...] = ()
    ) -> None:
        super().__init__(visible(offer.course.title))
        self._offer = offer
        self._devices = devices
        self.confirmed = confirmed
        self._typed = ""
        self._said = ""

    def on_mount(self) -> None:
        """Draw."""
        self._body.focus()
        self.draw()

    @property
    def _missing(self) -> tuple[Candidate, ...]:
        """The devices of which nobody has typed yet which they are."""
        return tuple(each for each in self._devices if each.word not in self.confirmed)

    def draw(self) -> None:
        """Draw everything."""
        self.show_head(self._title, "review")
        self._draw_foot()
        self.show_body(offer_lines(self._offer, self._devices, self.inner_width - 1))

    def _draw_foot(self) -> None:
        missing = self._missing
        if not missing:
            self.show_keys(("y", "begin"), ("↑↓", "scroll"), ("Esc", "back"))
            return
        device = missing[0]
        what = "serial number" if device.serial else "name"
        far = f"{len(self._devices) - len(missing) + 1} of {len(self._devices)}"
        typed, word = visible(self._typed) + "▏", visible(device.word)
        notes: list[Line] = [
            [(self._said or f"What is on {visible(device.name)} will be lost. There is no undo.", "warn")],
            [(f"To go on, type its {what}, {word}, and Enter:", "warn")],
            [(f"[{typed:<{max(_LEAST_FIELD, cell_width(word) + 1)}}]", "strong"), (f"  {far}", "dim")],
        ]
        self.show_keys(("Enter", "that is it"), ("↑↓", "scroll"), ("Esc", "back"), notes=notes)

    def on_key(self, event: events.Key) -> None:
        """Take the letter, or the serial number."""
        if not self._missing:
            if event.key != "y":
                return
            self.dismiss(self._offer)
        elif event.key == "enter":
            self._confirm()
        elif event.key == "backspace":
            self._typed = self._typed[:-1]
        elif event.is_printable and event.character:
            self._typed = (self._typed + event.character)[:_MOST_TYPED]
        else:
            return
        event.stop()
        event.prevent_default()
        self._draw_foot()

    def on_paste(self, event: events.Paste) -> None:
        """A serial number may come from a label's photograph, or from another window."""
        event.stop()
        if self._missing:
            self._typed = (self._typed + event.text.strip().partition("\n")[0])[:_MOST_TYPED]
            self._draw_foot()

    def _confirm(self) -> None:
        device = self._missing[0]
        if self._typed.strip() != device.word:
            if self._typed:
                self._said = f"That is not {visible(device.name)}: what was typed is another word."
            return
        self.confirmed = (*self.confirmed, device.word)
        self._typed = self._said = ""
        if not self._missing:
            self.dismiss(self._offer)
