"""What is waited for before a plan can be shown. Esc waits no longer; nothing else is taken."""

from __future__ import annotations

from raidtui.ui.frame.pages import FrameScreen


class Waiting(FrameScreen[bool]):
    """Closed from outside when there is nothing left to wait for; gives None where Esc was pressed."""

    def __init__(self, title: str) -> None:
        super().__init__(title)
        self._words = ""
        self._drawn = False

    def on_mount(self) -> None:
        """Draw."""
        self._drawn = True
        self.tell(self._words)
        self._body.focus()

    def tell(self, words: str) -> None:
        """Say how far it is."""
        self._words = words
        if self._drawn:
            self.show_body([[(f" {words or 'reading …'}", "dim")]])
            self.show_foot(("Esc", "wait no longer; nothing is changed"))
