"""Every private name of Textual that raidtui uses, with its reason. No other file touches one.

test_textual_private.py checks each name against the installed Textual, and that no name is missing.
With ``RAIDTUI_STOCK=1`` (``raidtui.frame.stock``) none is imported or called, but for those of defects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

from textual import events
from textual.app import App
from textual.binding import Binding
from textual.dom import DOMNode
from textual.geometry import Region
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget

from raidtui.frame.stock import STOCK

if TYPE_CHECKING:
    from textual._compositor import ChopsUpdate, Compositor
    from textual._xterm_parser import XTermParser
    from textual.command import CommandPalette
    from textual.driver import Driver
    from textual.drivers.linux_driver import LinuxDriver
    from textual.strip import Strip

    _App = App[int]
    _Screen = Screen[Any]
    _Palette = CommandPalette
    _Driver = LinuxDriver
else:
    _App = _Screen = _Palette = _Driver = object  # mixins: Textual takes styles from the first base alone


# -- painting


def is_batching(app: App[Any]) -> bool:
    """``App._batch_count``: within ``batch_update`` nothing is drawn."""
    return app._batch_count > 0  # noqa: SLF001


def mark_dirty(widget: Widget, regions: Sequence[Region] = ()) -> None:
    """``Widget._set_dirty``: note changed regions, or all of a widget, without a message to the screen."""
    if STOCK:
        widget.refresh(*regions)
    else:
        widget._set_dirty(*regions)  # noqa: SLF001


def draw(screen: Screen[Any], widgets: set[Widget]) -> None:
    """``Screen._dirty_widgets``, ``Screen._compositor_refresh``, ``App._display``: draw widgets in one write.

    What waits for Textual's own refresh is drawn with them, as the refresh forgets it.
    """
    compositor = screen._compositor  # noqa: SLF001
    compositor.update_widgets(widgets | screen._dirty_widgets)  # noqa: SLF001
    update = changed_pieces(compositor)
    if update is None:
        screen._compositor_refresh()  # noqa: SLF001
        return
    compositor._dirty_regions.clear()  # noqa: SLF001
    screen._dirty_widgets.clear()  # noqa: SLF001
    screen.app._display(screen, update)  # noqa: SLF001


def changed_pieces(compositor: Compositor) -> ChopsUpdate | None:
    """``Compositor._dirty_regions``: the pieces of lines that changed, from the top down.

    Textual renders each widget between the first such line and the last. It has to where widgets share a
    piece: None. Places are taken before anything is rendered: that may find that a layout is due, and a
    widget is gone then.
    """
    from textual._compositor import ChopsUpdate  # noqa: PLC0415

    # The one in front comes first.
    places = [(each, at, clip.intersection(at)) for each, (at, clip) in compositor.visible_widgets.items()]
    owned: list[tuple[Widget, Region, Region]] = []
    for piece in sorted(compositor._dirty_regions, key=lambda each: each.y):  # noqa: SLF001
        found = next((each for each in places if each[2].overlaps(piece)), None)
        if found is None or not found[2].contains_region(piece):
            return None
        owned.append((found[0], found[1], piece))
    chops: list[dict[int, Strip | None]] = [{} for _ in range(compositor.size.height)]
    ends: list[dict[int, int]] = [{} for _ in chops]
    for widget, place, piece in owned:
        strips = widget.render_lines(piece.translate(-place.offset))
        for y, strip in zip(piece.line_range, strips, strict=True):
            if ends[y].get(piece.x, 0) < piece.right:
                chops[y][piece.x], ends[y][piece.x] = strip, piece.right
    spans = [(y, x, end) for y, line in enumerate(ends) for x, end in line.items()]
    return ChopsUpdate(chops, spans, [list(line.values()) for line in ends]) if spans else None


# -- keys and messages


def forward_event(screen: Screen[Any], event: events.Event) -> None:
    """``Screen._forward_event``: give a screen a key that was typed before it was there."""
    screen._forward_event(event)  # noqa: SLF001


def is_default_prevented(event: events.Event) -> bool:
    """``Message._no_default_action``: whether a handler has called ``prevent_default``."""
    return event._no_default_action  # noqa: SLF001


def bindings_for(node: DOMNode, key: str) -> Iterable[Binding]:
    """``DOMNode._bindings``: the bindings of a key on a widget or screen, the user's keymap applied.

    Raises:
        NoBinding: the key has none there.
    """
    return node._bindings.get_bindings_for_key(key)  # noqa: SLF001


class KeyHook(_Screen):
    """``_on_key``: handles keys after the ``on_key`` of subclasses, and before Textual looks bindings up."""

    async def _on_key(self, event: events.Key) -> None:
        if not STOCK:
            await self.key_pressed(event)

    async def key_pressed(self, event: events.Key) -> None:
        """Handle a key; ``prevent_default`` keeps it from Textual."""


class MessageGate(_Screen):
    """``MessagePump._dispatch_message``: a screen that takes only some messages."""

    def accepts(self, message: Message) -> bool:
        """Whether a message is dispatched."""
        del message
        return True

    async def _dispatch_message(self, message: Message) -> None:
        if STOCK or self.accepts(message):
            await super()._dispatch_message(message)


class PaletteHook(_Palette):
    """``CommandPalette._action_command_list``: an action on a list that has no room must not be run."""

    def can_move(self) -> bool:
        """Whether the list of commands can be moved over."""
        return True

    def _action_command_list(self, action: str) -> None:
        if self.can_move():
            super()._action_command_list(action)


# -- the app


def drop_extra_widgets(app: App[Any]) -> None:
    """``App._disable_tooltips``, ``App._disable_notifications``: two widgets a screen that are never used."""
    if not STOCK:
        app._disable_tooltips = app._disable_notifications = True  # noqa: SLF001


class DefectHooks(_App):
    """``App._handle_exception``, ``App._fatal_error``: Textual prints all variables, serial numbers included.

    These stay with ``RAIDTUI_STOCK=1``: a report without serial numbers is not for speed.
    """

    def note_defect(self, error: Exception) -> None:
        """Take an exception that ends the app, while its screens are still there."""

    def _handle_exception(self, error: Exception) -> None:
        self.note_defect(error)
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """``MessagePump._close_messages_no_wait`` is what Textual's own does besides printing."""
        self._close_messages_no_wait()


# -- the terminal driver


def driver_of(app: App[Any]) -> Driver | None:
    """``App._driver``: what writes the screen; None before it runs."""
    return app._driver  # noqa: SLF001


def draw_on(driver: LinuxDriver, file: TextIOWrapper[Any]) -> None:
    """``LinuxDriver._file``: where the screen is written; Textual's is standard error."""
    driver._file = file  # noqa: SLF001


class DriverHooks(_Driver):
    """``LinuxDriver._get_terminal_size``, ``LinuxDriver._sigcont_application``: two answers of our own."""

    def terminal_size(self) -> tuple[int, int] | None:
        """Return (columns, rows), or None to let Textual find them."""
        return None

    def _get_terminal_size(self) -> tuple[int, int]:
        return self.terminal_size() or super()._get_terminal_size()

    def _sigcont_application(self, *_: object) -> None:
        """``_must_signal_resume``: whether SIGTSTP came before.

        The kernel sends SIGCONT with the SIGHUP of a line that is cut, too: there is nothing to resume then.
        """
        if self._must_signal_resume:
            super()._sigcont_application()


def report_defect(driver: LinuxDriver, error: Exception) -> None:
    """``Driver._loop``, ``Driver._app``, ``App._handle_exception``: end the app, from the keys' thread."""
    driver._loop.call_soon_threadsafe(driver._app._handle_exception, error)  # noqa: SLF001


def call_later(driver: LinuxDriver, seconds: float, call: Callable[[], None]) -> None:
    """``Driver._loop``: call something in the app's thread, from any."""
    driver._loop.call_soon_threadsafe(driver._loop.call_later, seconds, call)  # noqa: SLF001


def exit_app(driver: LinuxDriver) -> None:
    """``Driver._loop``, ``Driver._app``: leave, from the keys' thread."""
    driver._loop.call_soon_threadsafe(driver._app.exit)  # noqa: SLF001


def key_parser(driver: LinuxDriver) -> XTermParser:
    """``textual._xterm_parser.XTermParser``, ``Driver._debug``: makes keys of what the terminal sends."""
    from textual._xterm_parser import XTermParser  # noqa: PLC0415

    return XTermParser(driver._debug)  # noqa: SLF001


def wait_ms(parser: XTermParser) -> int | None:
    """``Parser._timeout_time``: how long half an escape sequence may wait; None: there is none."""
    until = parser._timeout_time  # noqa: SLF001
    return None if until is None else max(1, int((until - Message().time) * 1000) + 1)
