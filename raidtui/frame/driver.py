"""A terminal driver that sleeps until a key comes, ends at once, and sends only cells that differ.

Textual's own wakes ten times a second to see whether to stop, and takes 0.2 s to stop. This one also waits on
a pipe. The first frame, which was written before, stays until the first page is drawn over it.

On a slow line, pages are held back until what was sent before has left, and for a moment longer: of those
that are drawn meanwhile, the last is sent. Lines and bars are ASCII there, a third of the bytes.
"""

from __future__ import annotations

import contextlib
import os
import select
from codecs import getincrementaldecoder
from io import TextIOWrapper
from threading import RLock
from typing import Any

from textual import events
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from raidtui.first_frame import TERMINAL
from raidtui.frame.screen_difference import ScreenDifference, knows_more
from raidtui.frame.stock import STOCK
from raidtui.frame.textual_private import (
    DriverHooks,
    call_later,
    draw_on,
    exit_app,
    key_parser,
    report_defect,
    wait_ms,
)
from raidtui.view.glyphs import CELLS, encoding, register
from raidtui.view.slow_line import SlowLine, slow_baud, unsent_bytes

_ALTERNATE_SCREEN = "\x1b[?1049h"
_OUTPUT = 1
_TITLED = ("alacritty", "foot", "kitty", "rxvt", "screen", "st-", "tmux", "wezterm", "xterm")
"""How TERM begins where the terminal has a title and keeps the one before (CSI 22 t, 23 t; OSC 2)."""
_KEEP_TITLE, _TITLE, _TITLE_BACK = "\x1b[22;2t", "\x1b]2;{}\x07", "\x1b[23;2t"
_NOTIFIED = {
    "foot": "\x1b]777;notify;raidtui;{}\x1b\\",
    "rxvt-unicode": "\x1b]777;notify;raidtui;{}\x1b\\",
    "wezterm": "\x1b]9;{}\x1b\\",
    "xterm-ghostty": "\x1b]9;{}\x1b\\",
    "xterm-kitty": "\x1b]9;{}\x1b\\",
}
"""How TERM begins where the terminal is known to make a desktop notification of a sequence, and that."""
_HELD_S = 0.1
"""How long a page is held back on a slow line: what is read fast is drawn at once, without "Reading"."""


class QuietDriver(DriverHooks, LinuxDriver):
    """See the module."""

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        baud = None if STOCK else slow_baud(_OUTPUT)
        self._slow = SlowLine(baud, unsent=lambda: unsent_bytes(_OUTPUT)) if baud is not None else None
        self._signs = encoding() if self._slow is None else "ascii"
        # Textual's is standard error, which may be a file, or closed.
        draw_on(self, _screen_file(self._signs))
        self._shown: ScreenDifference | None = None
        self._holds = self._started = self._titled = False
        self._writing = RLock()  # the keys' thread sets modes, and a signal may come in between
        self._wake_read, self._wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)

    def write(self, data: str) -> None:
        """Write what differs; the alternate screen is not entered again: that would clear the first frame."""
        if data == _ALTERNATE_SCREEN and TERMINAL.shown:
            return
        with self._writing:
            if self._shown is not None:
                if self._signs == "ascii":
                    data = data.encode("ascii", CELLS).decode("ascii")
                data = self._shown.difference(data, hold=self._slow is not None)
                self._hold(_HELD_S)
            self._send(data)

    def _send(self, data: str) -> None:
        if self._slow is not None:
            self._slow.note(len(data))  # it is ASCII
        super().write(data)

    def _hold(self, seconds: float) -> None:
        """On a slow line, send what is held back later."""
        if self._slow is not None and not self._holds:
            self._holds = True
            call_later(self, seconds, self._send_held)

    def _send_held(self) -> None:
        with self._writing:
            self._holds = False
            if self._slow is None or self._shown is None or not self._started:
                return
            if seconds := self._slow.wait_s():
                self._hold(seconds)
            elif held := self._shown.held():
                self._send(held)
                self.flush()

    def process_message(self, message: Message) -> None:
        """Pass a message on; after a resize that the terminal reports in band, nothing is known."""
        if isinstance(message, events.Resize) and self._shown is not None:
            self._shown = _difference(*message.size)
        super().process_message(message)

    def redraw(self) -> None:
        """Send all of the screen again: what else has written on the terminal is gone then."""
        with self._writing:
            if self._shown is not None:
                self._send(self._shown.whole())
                self.flush()

    def ring(self) -> None:
        """Ring the terminal's bell."""
        self._write_apart("\x07")

    def notify(self, text: str) -> None:
        """Let the terminal show a desktop notification, where it is known to do so.

        Args:
            text: without control characters.
        """
        term = os.environ.get("TERM", "")
        known = (sequence for name, sequence in _NOTIFIED.items() if term.startswith(name))
        if (sequence := next(known, None)) is not None:
            self._write_apart(sequence.format(text.replace(";", ",")))

    def set_title(self, title: str) -> None:
        """Set the terminal's title; "" restores the one before. A slow line is not loaded with it.

        Args:
            title: without control characters.
        """
        if self._slow is not None or not os.environ.get("TERM", "").startswith(_TITLED):
            return
        if title:
            self._write_apart(("" if self._titled else _KEEP_TITLE) + _TITLE.format(title))
        elif self._titled:
            self._write_apart(_TITLE_BACK)
        self._titled = bool(title)

    def _write_apart(self, data: str) -> None:
        """Write what is not a part of the screen."""
        with self._writing:
            if self._started:
                self._send(data)
                self.flush()

    def terminal_size(self) -> tuple[int, int] | None:
        """Return the terminal's size, or None where it does not know it: then COLUMNS and LINES count.

        They do not follow a resize where a container or a parent program exports them.
        """
        with contextlib.suppress(OSError):
            columns, rows = os.get_terminal_size(self.fileno)
            if columns and rows:
                if not STOCK:  # it is asked for at the start, after a resize and when raidtui is resumed
                    self._shown = _difference(columns, rows)
                return columns, rows
        return None

    def start_application_mode(self) -> None:
        """Start; the terminal's settings are known from before the first frame."""
        self._drain_wake()  # not in the thread: the wake could come before the event that it is for
        TERMINAL.driven = self._started = True
        super().start_application_mode()  # type: ignore[no-untyped-call]
        if TERMINAL.cooked is not None:
            self.attrs_before = list(TERMINAL.cooked)

    def stop_application_mode(self) -> None:
        """Restore the terminal as it was before the first frame."""
        if self._titled:
            self.set_title("")
        self._started = False
        super().stop_application_mode()
        TERMINAL.shown = TERMINAL.driven = False

    def disable_input(self) -> None:
        """Stop reading keys, without waiting for a timeout."""
        os.write(self._wake_write, b"x")
        super().disable_input()

    def run_input_thread(self) -> None:
        """Read keys until input is disabled; an error ends the app, which would take no keys any more."""
        try:
            self._read_keys()
        except Exception as error:  # noqa: BLE001
            report_defect(self, error)

    def _read_keys(self) -> None:
        """Read keys until input is disabled, and wake for nothing else."""
        parser = key_parser(self)
        decode = getincrementaldecoder("utf-8")("replace").decode
        waiting = select.poll()
        waiting.register(self.fileno, select.POLLIN)
        waiting.register(self._wake_read, select.POLLIN)
        while not self.exit_event.is_set():
            ready = dict(waiting.poll(wait_ms(parser)))
            if self.fileno in ready:
                try:
                    data = os.read(self.fileno, 4096)
                except OSError:
                    data = b""
                if not data:  # the line was hung up; half a character is something else
                    waiting.unregister(self.fileno)
                    exit_app(self)
                    continue
                if text := decode(data):  # the parser takes an empty text for the end
                    for message in parser.feed(text):
                        self.process_message(message)
            for message in parser.tick():
                self.process_message(message)

    def _drain_wake(self) -> None:
        try:
            os.read(self._wake_read, 64)
        except BlockingIOError:
            return


def _difference(columns: int, rows: int) -> ScreenDifference:
    return ScreenDifference(columns, rows, knows_more=knows_more(os.environ.get("TERM", "")))


def _screen_file(signs: str) -> TextIOWrapper[Any]:
    """Return standard output as a text file; signs that the encoding lacks are written in ASCII."""
    register()
    return open(_OUTPUT, "w", encoding=signs, errors=CELLS, newline="", closefd=False)
