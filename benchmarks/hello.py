"""An empty Textual app: the reference.

It does what any Textual app must do and nothing else, so that "1.1 x hello" measures raidtui's code and not
the interpreter, the machine or its load.  `6` changes the one line (the moment a key is answered), `q`
quits.
"""

from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static


class Hello(App[None]):
    """One line of text and two keys."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("q", "quit", "Quit"), Binding("6", "answer", "Answer")]

    def compose(self) -> ComposeResult:
        """The one line."""
        yield Static("hello, terminal: waiting for a key", id="line")

    def action_answer(self) -> None:
        """Show that the key has arrived."""
        self.query_one("#line", Static).update("key answered by an empty app")


if __name__ == "__main__":
    Hello().run()
