"""What all dialogs are: screens above the main one that close once; and questions."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.reactive import Reactive
from textual.screen import ModalScreen
from textual.widget import Widget

from raidtui.frame.lines import Lines
from raidtui.frame.stock import STOCK
from raidtui.frame.textual_private import MessageGate
from raidtui.model.plan import Plan
from raidtui.view.line import Line
from raidtui.view.text import visible
from raidtui.view.wrapping import wrapped

T = TypeVar("T")


class ClosesOnce(MessageGate):
    """A screen that closes itself once, and takes no input afterwards.

    Textual's ``dismiss`` closes the screen on top, whichever that is. The second of two quick keys reaches a
    dialog that the first one has closed: it would close the screen below, or end the program.
    """

    INPUTS: ClassVar[tuple[type[Message], ...]] = (events.InputEvent,)
    """Messages of keys, pastes and clicks."""
    _over = False

    def dismiss(self, result: Any = None) -> AwaitComplete:  # noqa: ANN401  (as Textual says)
        """Close this screen with a result; nothing where it is closed already, or below another one."""
        if self._over or self.app.screen_stack[-1:] != [self]:
            return AwaitComplete()
        self._over = True
        return super().dismiss(result)

    def accepts(self, message: Message) -> bool:
        """Whether a message is dispatched: nothing that a person types or clicks, once this is closed."""
        return not (self._over and isinstance(message, self.INPUTS))


class Dialog(ClosesOnce, ModalScreen[T], Generic[T]):
    """A dialog; its result is of type ``T``, or None. An alarm is laid over its first line."""

    DEFAULT_CSS = "Dialog { layers: default alarm; }"


WIDTH = 74


def plan_lines(plan: Plan) -> list[Line]:
    """Return a plan that is carried out at once, in lines: title, warning, every write, how it is undone."""
    lines: list[Line] = [[(visible(f"{plan.subject}: {plan.title}"), "strong")], []]
    lines += wrapped(plan.warning, WIDTH - 4, "warn")
    if plan.warning:
        lines.append([])
    for step in plan.steps:
        lines.append([("  " + visible(step.command), "accent")])
        lines.append([("      " + visible(step.why), "dim")])
    if plan.undo:
        lines.append([])
        lines.append([("undo:", "dim")])
        lines += [[("  " + visible(step.command), "dim")] for step in plan.undo]
    return lines


class Question(Dialog[str]):
    """A text and answers of one letter each; Esc and Enter give the harmless answer.

    Args:
        lines: the question.
        answers: (key, words) pairs; the result is the key.
        harmless: the result of Esc and Enter.
    """

    CSS = """
    Question { align: center middle; background: transparent; }
    #question {
        width: 78; max-width: 100%; height: auto; max-height: 100%; border: round $r-accent; padding: 0 1;
        background: $r-background;
    }
    """
    focused: Reactive[Widget | None] = Reactive(None, repaint=STOCK)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,q", "harmless", "Back", show=False),
    ]

    def __init__(self, lines: list[Line], answers: tuple[tuple[str, str], ...], harmless: str = "") -> None:
        super().__init__()
        self._question = lines
        self._text = Lines(id="question-text")
        self._foot = Lines(id="question-answers")
        self._answers = answers
        self._harmless = harmless

    def compose(self) -> ComposeResult:
        """The text, then the answers."""
        with Vertical(id="question"):
            yield self._text
            yield self._foot

    def on_mount(self) -> None:
        """Show the text and the answers' keys."""
        self._text.show(self._question)
        line: Line = []
        for key, words in self._answers:
            line += [(f" {key} ", "key"), (f"{words}   ", "plain")]
        line += [(" Esc ", "key"), ("back" if not self._harmless else "stay here", "plain")]
        self._foot.show([[], line])

    def on_key(self, event: events.Key) -> None:
        """Close with the answer whose letter was typed; below the dialog, it may be a command."""
        character = event.character
        if character and any(character == key for key, _ in self._answers):
            event.stop()
            event.prevent_default()
            self.dismiss(character)

    def action_harmless(self) -> None:
        """Close with the answer that changes nothing."""
        self.dismiss(self._harmless)
