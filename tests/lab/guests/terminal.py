"""A terminal without a window: a full-screen program under it, its screen read through pyte."""

import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import pyte

from tests.lab.guests import keys

CSI_START = rb"\x1b\["
# What pyte mistakes for something else: private sequences but the setting of modes, sequences with
# intermediates, and the string sequences DCS, SOS, PM, APC.
FOREIGN = re.compile(
    CSI_START
    + rb"(?:[<=>][0-?]*[ -/]*[@-~]|\?[0-?]*[@-gi-km-~]|[0-?]*[ -/]+[@-~])"
    + rb"|\x1b[PX^_].*?\x1b\\",
    re.DOTALL,
)
# What may become a sequence when more arrives.
UNFINISHED = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|[PX^_](?:(?!\x1b\\).)*)?\Z", re.DOTALL)
MODE_QUERY = re.compile(CSI_START + rb"\?(\d+)\$p")
SUBPARAMETER = re.compile(CSI_START + rb"[0-9;]*:[0-9;:]*m")
APPLICATION_KEYS = 1 << 5  # DECCKM as pyte counts private modes
PATIENCE_S = 90.0  # on a busy machine the guest is ten times as slow; nothing waits longer than it must
AFTERGLOW_S = 0.5  # how long output may lag behind the news that the program ended

Wanted = str | re.Pattern[str] | Callable[[str], object]


class Runs(Protocol):
    """The program under a terminal, here or in a guest."""

    @property
    def status(self) -> int | None:
        """The exit status, None while it runs."""

    def end(self) -> None:
        """Make sure that it has ended."""

    def resize(self, cols: int, rows: int) -> None:
        """Set the size of its terminal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One character and how it looks; colours are pyte's: a name, `default`, or six hex digits."""

    text: str
    fg: str
    bg: str
    bold: bool
    italic: bool
    underline: bool
    reverse: bool


class Screen(pyte.Screen):
    """pyte's screen that answers as a VT220 does."""

    def __init__(self, cols: int, rows: int, reply: Callable[[bytes], None]) -> None:
        super().__init__(cols, rows)
        self._reply = reply

    def write_process_input(self, data: str) -> None:
        self._reply(data.encode())

    def report_device_attributes(self, mode: int = 0, **_: bool) -> None:
        if mode == 0:
            self._reply(b"\x1b[?62;22c")


class Terminal:
    """A screen of `cols` x `rows` on any file number with a program behind it; owns both."""

    def __init__(self, fd: int, program: Runs, *, cols: int, rows: int, name: str = "host") -> None:
        self.name = name
        self.bytes_seen = 0  # what the program wrote so far
        self.last = b""  # the end of it
        self.closed = False
        self._fd = fd
        self._program = program
        self._screen = Screen(cols, rows, self._send)
        self._stream = pyte.ByteStream(self._screen)
        self._rest = b""
        self._changed = threading.Condition()
        self._hung_up = False
        self._wake_read, self._wake_write = os.pipe()
        self._reader = threading.Thread(target=self._read, daemon=True, name=f"terminal {name}")
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def press(self, *names: str) -> None:
        """Press keys: `press("c", "down", "shift+right", "ctrl+p")`.

        Raises:
            ValueError: an unknown key; or escape before another key, which programs read as alt:
                press it last, then wait for what it does.
        """
        if "escape" in names[:-1]:
            raise ValueError("escape must be the last key of a press")
        with self._changed:
            application = APPLICATION_KEYS in self._screen.mode
        for name in names:
            self._send(keys.to_bytes(name, application=application))

    def type(self, text: str) -> None:
        """Type a text; at most 2 kB at once, a guest's console stalls when its buffers overflow."""
        self._send(text.encode())

    def click(self, x: int, y: int, button: int = 0) -> None:
        """Click on a cell, counted from 0."""
        self._send(keys.click(x, y, button))

    def wheel(self, x: int, y: int, *, up: bool = False) -> None:
        """Turn the mouse wheel over a cell by one notch."""
        self._send(keys.wheel(x, y, up=up))

    def resize(self, cols: int, rows: int) -> None:
        """Change the size; the program gets SIGWINCH."""
        with self._changed:
            self._screen.resize(rows, cols)
        self._program.resize(cols, rows)

    def lines(self) -> list[str]:
        """The rows of the screen, without the blanks at their ends."""
        with self._changed:
            return [line.rstrip() for line in self._screen.display]

    def screen(self) -> str:
        """The screen as one text."""
        return "\n".join(self.lines())

    @property
    def cells(self) -> list[list[Cell]]:
        """A picture of all cells, `cells[y][x]`."""
        with self._changed:
            rows = [
                [self._screen.buffer[y][x] for x in range(self._screen.columns)]
                for y in range(self._screen.lines)
            ]
        return [
            [
                Cell(
                    text=char.data,
                    fg=char.fg,
                    bg=char.bg,
                    bold=char.bold,
                    italic=char.italics,
                    underline=char.underscore,
                    reverse=char.reverse,
                )
                for char in row
            ]
            for row in rows
        ]

    @property
    def title(self) -> str:
        """The window's title that the program set."""
        with self._changed:
            return self._screen.title

    def has_mode(self, number: int) -> bool:
        """Whether a private mode is set: 1049 is the alternate screen, 25 the cursor, 1000 the mouse."""
        with self._changed:
            return number << 5 in self._screen.mode

    @property
    def exit_status(self) -> int | None:
        """The program's exit status, None while it runs."""
        return self._program.status

    def find(self, text: str) -> tuple[int, int]:
        """Where a text stands on the screen, as x and y for `click`.

        Raises:
            AssertionError: it is not there; the screen is in the error.
        """
        for y, line in enumerate(self.lines()):
            if (x := line.find(text)) >= 0:
                return x, y
        raise AssertionError(f"{text!r} is not on the screen:\n{framed(self.screen())}")

    def wait_for(self, wanted: Wanted, timeout: float = PATIENCE_S) -> float:
        """Wait until a text, a pattern or a condition holds on the screen; returns the seconds that it took.

        Raises:
            AssertionError: it did not come in time, or the program ended without it; the screen is in it.
        """
        start = time.monotonic()
        over_at: float | None = None
        while True:
            with self._changed:
                seen = self.bytes_seen
            text = self.screen()
            if matches(wanted, text):
                return time.monotonic() - start
            now = time.monotonic()
            if self.exit_status is not None or self._hung_up:
                over_at = over_at or now + AFTERGLOW_S
                if now > over_at:
                    self._fail(
                        wanted, f"did not come before the program ended with status {self.exit_status}", text
                    )
            if now - start > timeout:
                self._fail(wanted, f"did not come within {timeout:g} s", text)
            with self._changed:
                if self.bytes_seen == seen:
                    self._changed.wait(0.1)

    def wait_exit(self, timeout: float = PATIENCE_S) -> int:
        """Wait until the program ends; returns its exit status.

        Raises:
            AssertionError: it still runs; the screen is in the error.
        """
        start = time.monotonic()
        while (status := self.exit_status) is None:
            if time.monotonic() - start > timeout:
                self._fail("the program's end", f"did not come within {timeout:g} s", self.screen())
            with self._changed:
                self._changed.wait(0.02)
        return status

    def close(self) -> None:
        """End the program; the screen stays readable. May be called again."""
        if self.closed:
            return
        try:
            self._program.end()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Stop reading and close the line; the program may go on."""
        if self.closed:
            return
        self.closed = True
        os.write(self._wake_write, b"x")
        self._reader.join(timeout=5)
        for fd in (self._fd, self._wake_read, self._wake_write):
            os.close(fd)

    def _fail(self, wanted: Wanted, how: str, text: str) -> None:
        raise AssertionError(f"{getattr(wanted, 'pattern', wanted)!r} {how}; the screen:\n{framed(text)}")

    def _send(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._fd, data) :]

    def _read(self) -> None:
        waiting = select.poll()
        for fd in (self._fd, self._wake_read):
            waiting.register(fd, select.POLLIN)
        while True:
            if any(fd == self._wake_read for fd, _ in waiting.poll()):
                return
            try:
                data = os.read(self._fd, 65536)
            except OSError:  # a pseudo terminal reports so that its other side is closed
                data = b""
            with self._changed:
                self._hung_up = not data
                self.bytes_seen += len(data)
                self.last = (self.last + data)[-4096:]
                self._feed(data)
                self._changed.notify_all()
            if not data:
                return

    def _feed(self, data: bytes) -> None:
        data = self._rest + data
        unfinished = UNFINISHED.search(data)
        end = unfinished.start() if unfinished else len(data)
        data, self._rest = data[:end], data[end:]
        for query in MODE_QUERY.finditer(data):
            self._send(b"\x1b[?%b;0$y" % query[1])  # no such mode, synchronised output included
        plain = SUBPARAMETER.sub(lambda match: re.sub(rb":[\d:]*", b"", match[0]), FOREIGN.sub(b"", data))
        self._stream.feed(plain)


@dataclass(slots=True)
class HostProgram:
    """A program on this machine under a pseudo terminal."""

    process: subprocess.Popen[bytes]
    master: int

    @property
    def status(self) -> int | None:
        """The exit status, None while it runs."""
        return self.process.poll()

    def end(self) -> None:
        """Make sure that it has ended, with all of its process group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def resize(self, cols: int, rows: int) -> None:
        """Set the size of the terminal."""
        termios.tcsetwinsize(self.master, (rows, cols))


def host_terminal(
    argv: Sequence[str], *, cols: int = 80, rows: int = 24, env: Mapping[str, str] | None = None
) -> Terminal:
    """Start a full-screen program on this machine, with a terminal just like a guest's."""
    master, slave = pty.openpty()
    try:
        termios.tcsetwinsize(slave, (rows, cols))
        colours = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
        process = subprocess.Popen(
            ("/usr/bin/setsid", "--ctty", *argv),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**os.environ, **colours, **(env or {})},
        )
    except BaseException:
        os.close(master)
        raise
    finally:
        os.close(slave)
    return Terminal(master, HostProgram(process, master), cols=cols, rows=rows)


def matches(wanted: Wanted, text: str) -> bool:
    """Whether a screen is the one that is waited for."""
    if isinstance(wanted, str):
        return wanted in text
    if isinstance(wanted, re.Pattern):
        return wanted.search(text) is not None
    return bool(wanted(text))


def framed(text: str) -> str:
    """A screen with a margin, for an error's text."""
    return "\n".join(f"  |{line}" for line in text.split("\n"))
