"""Messages between the watch loop, the app and its panes."""

from __future__ import annotations

from textual.message import Message

from raidtui.session.watch import Report


class Sampled(Message):
    """A new report is there. A slow screen gets the latest alone."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self.report = report

    def can_replace(self, message: Message) -> bool:
        """Whether this one makes an earlier, unhandled one needless."""
        return isinstance(message, Sampled)
