"""What every dialog is: a screen above the main one, that closes once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from textual import events
from textual.await_complete import AwaitComplete
from textual.message import Message
from textual.screen import ModalScreen, Screen

T = TypeVar("T")
if TYPE_CHECKING:
    _Mixed = Screen[Any]
else:
    _Mixed = object  # Textual looks for a widget's style in its first base


class ClosesOnce(_Mixed):
    """A screen that closes itself, once, and takes nothing afterwards.

    Textual's ``dismiss`` closes whatever screen is on top. The second of two quick keys reaches a dialog
    that the first one has closed already: it would close the screen below, or end the program.
    """

    INPUTS: ClassVar[tuple[type[Message], ...]] = (events.InputEvent,)
    """What a person has typed or clicked."""
    _over = False

    def dismiss(self, result: Any = None) -> AwaitComplete:  # noqa: ANN401  (as Textual says)
        """Close this screen with a result; nothing where it is closed already, or below another one."""
        if self._over or self.app.screen_stack[-1:] != [self]:
            return AwaitComplete()
        self._over = True
        return super().dismiss(result)

    async def _dispatch_message(self, message: Message) -> None:
        if not (self._over and isinstance(message, self.INPUTS)):
            await super()._dispatch_message(message)


class Dialog(ClosesOnce, ModalScreen[T], Generic[T]):
    """A dialog."""
