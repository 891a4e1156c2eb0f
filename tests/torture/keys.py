"""Random keys, pastes, clicks and window sizes: the console keeps running, and exits when asked to.

A round sends a few hundred keys to the demo, through the parser of the terminal's bytes. After
each burst the console is alive and what it shows is what it would draw anew. Every fourth round plays on real
arrays, in a terminal of the laboratory's guest: whatever the keys do there, the console answers, and it ends
when it is asked to.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from textual._xterm_parser import XTermParser
from textual.geometry import Size
from textual.screen import Screen

from raidtui.config import Config
from raidtui.demo.demo_host import demo_root
from raidtui.frame.command_palette import Palette
from raidtui.frame.surveying import Show, Surveying
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.reading import ReadingProgress
from raidtui.model.survey import Survey
from tests.frame.staging import StagedApp, screen_text, staged, until
from tests.lab.guests import keys
from tests.lab.guests.arrays import make_array
from tests.lab.guests.boot import LabMissingError
from tests.lab.guests.console import open_console
from tests.lab.guests.deadline import wait_until
from tests.lab.guests.guest import Guest
from tests.lab.guests.link import LabError
from tests.lab.guests.terminal import Terminal
from tests.lab.guests.uml import UmlGuest

BURSTS, MOST_KEYS = 20, 40
_WIDTHS, _HEIGHTS = (1, 4, 20, 40, 59, 60, 61, 80, 100, 120, 200), (1, 3, 4, 10, 14, 15, 24, 40, 60)
_NAMES = (
    "enter", "tab", "shift+tab", "escape", "backspace", "space", "up", "down", "left", "right", "home", "end",
    "pageup", "pagedown", "insert", "delete", "shift+left", "shift+right", "shift+up", "shift+down",
    "ctrl+left", "ctrl+right", "ctrl+home", "ctrl+end", "ctrl+pagedown", "ctrl+pageup", "alt+a", "alt+enter",
    "f1", "f2", "f5", "f12",
)  # fmt: skip
_CONTROLS = "abdefghijklmnopqrstuvwxy"  # not c, which Textual keeps for itself, and not z, which suspends
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/?=+-.,:_ "
_PANES = "123456"
_FOREIGN = "éß€漢字🛟\u0301\u200b\u202e\x00\x7f[]{}\\'\"$"
_STRAY = (b"\x1b[", b"\x1b[I", b"\x1b[O", b"\x1b[?1;2c", b"\x1b[24;80R", b"\x1bOz", b"\x1b]11;rgb:0/0/0\x07",
          b"\xff\xfe", b"\xc3", b"\x1b[200~unended")  # fmt: skip
_CALM_S, _TRIES = 20.0, 40
_EACH_REAL, _LEAVE_S = 4, 60.0
_ESCAPE = (
    b"\x1b[27u"  # as kitty sends it: a bare ESC and the next key's byte, read together, are alt and that key
)
_PASTED = b"\x1b[201~"
_MOST_BYTES = 2000  # a guest's console stalls when its buffers overflow
_REPORTS = "/var/lib/raidtui/crash-*"
_CLOCK = re.compile(r"\d\d:\d\d$", re.MULTILINE)


class _Shown:
    """How often a page has been shown what was read of the host meanwhile."""

    count = 0


class _Laboratory:
    """The guest, where this machine can have one."""

    guest: Guest | None = None


def open_up() -> None:
    """Boot the guest. If this machine cannot, all rounds use the demo, unless RAIDTUI_LAB=require."""
    try:
        _Laboratory.guest = UmlGuest.boot()
    except LabMissingError:
        if os.environ.get("RAIDTUI_LAB") == "require":
            raise


def close_down() -> None:
    """End the guest."""
    if _Laboratory.guest is not None:
        _Laboratory.guest.shutdown()
        _Laboratory.guest = None


def round_of(seed: int) -> None:
    """Play one round.

    Raises:
        Exception: what the console raised, with the bursts that led to it.
    """
    if seed % _EACH_REAL == 0 and _Laboratory.guest is not None:
        play_on(_Laboratory.guest, seed)
    else:
        play(seed)


def play_on(guest: Guest, seed: int, *, bursts: int = BURSTS) -> None:
    """Play a round on two arrays of a guest with empty disks.

    Raises:
        AssertionError: the console crashed, or no longer answers; the error has what was played.
    """
    dice = random.Random(seed)
    guest.reset()
    disks = guest.disks
    make_array(guest, "data", 10, disks[:4], layout="n2", chunk=64)
    make_array(guest, "logs", 1, disks[4:6], extra=("--assume-clean",))
    guest.run(f"rm -f {_REPORTS}")
    size = 110, 40
    played: list[str] = []
    terminal = open_console(guest, cols=size[0], rows=size[1])
    try:
        for _ in range(bursts):
            data = b"".join(_stroke(dice, size) for _ in range(dice.randrange(1, MOST_KEYS)))
            played.append(repr(data))
            terminal._send(data[:_MOST_BYTES] + _PASTED)  # else all that follows is the paste's
            size = _answered(terminal, dice, size)
            played.append(f"size {size}")
            if terminal.exit_status is not None:
                break
        _leave(terminal, dice, size)
    except AssertionError as error:
        error.add_note("played:\n" + "\n".join(played))
        raise
    finally:
        terminal.close()
        report = guest.run(f"cat {_REPORTS} 2>/dev/null").stdout
    assert not report, "\n".join([report, "played:", *played])
    assert terminal.exit_status == 0, "\n".join(
        [f"status {terminal.exit_status}", terminal.screen(), *played]
    )


def _answered(terminal: Terminal, dice: random.Random, size: tuple[int, int]) -> tuple[int, int]:
    """Give the window another size, and wait until the console draws in it, or has ended; return the size."""
    wider = size
    while wider == size:
        wider = dice.choice(_WIDTHS[4:]), dice.choice(_HEIGHTS[3:])
    seen = terminal.bytes_seen
    try:
        terminal.resize(*wider)
    except LabError:  # its terminal is gone: it has ended in this moment
        wait_until(lambda: terminal.exit_status is not None, _CALM_S, "the console's end")
        return wider
    wait_until(
        lambda: terminal.bytes_seen > seen or terminal.exit_status is not None,
        _CALM_S,
        "a drawing in the new size",
    )
    return wider


def _leave(terminal: Terminal, dice: random.Random, size: tuple[int, int]) -> None:
    """Go out by Esc and q; a question whether to keep what was changed is answered with keep.

    A form that was asked for before may still be being made, and opens in between.
    """
    end_s = time.monotonic() + _LEAVE_S
    while terminal.exit_status is None and time.monotonic() < end_s:
        for key in (_ESCAPE, b"1", b"q", b"k"):
            if terminal.exit_status is None:
                terminal._send(key)
                size = _answered(terminal, dice, size)
    terminal.wait_exit(timeout=_CALM_S)


def play(seed: int, *, root: HostReader | None = None, bursts: int = BURSTS) -> None:
    """Play a round on a host, by default the demo."""
    dice = random.Random(seed)
    with _own_folder(), _counted_shows():
        asyncio.run(_played(dice, root or demo_root(), bursts))


@contextlib.contextmanager
def _own_folder() -> Iterator[None]:
    """Let files that a dialog writes under random names go to a temporary folder."""
    before, state = Path.cwd(), os.environ.get("XDG_STATE_HOME")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["XDG_STATE_HOME"] = folder
        try:
            yield
        finally:
            os.chdir(before)
            os.environ.pop("XDG_STATE_HOME")
            if state is not None:
                os.environ["XDG_STATE_HOME"] = state


@contextlib.contextmanager
def _counted_shows() -> Iterator[None]:
    """Count them: what is read in threads comes to a page at any moment, also while it is drawn anew."""
    shown = Surveying.shown

    async def counted(self: Surveying, screen: Screen[Any], show: Show) -> Any:
        def told(survey: Survey, progress: ReadingProgress) -> None:
            _Shown.count += 1
            show(survey, progress)

        return await shown(self, screen, told)

    with patch.object(Surveying, "shown", counted):
        yield


async def _played(dice: random.Random, root: HostReader, bursts: int) -> None:
    app = staged(root, theme=dice.choice(("dark", "gruvbox-light", "high-contrast", "ansi")), config=Config())
    size = dice.choice(_WIDTHS), dice.choice(_HEIGHTS)
    played: list[str] = [f"size {size}"]
    try:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            for _ in range(bursts):
                if dice.random() < 0.25:
                    size = dice.choice(_WIDTHS), dice.choice(_HEIGHTS)
                    played.append(f"size {size}")
                    _resize(app, size)
                data = b"".join(_stroke(dice, size) for _ in range(dice.randrange(1, MOST_KEYS)))
                played.append(repr(data))
                _type(app, data, dice)
                await _calm(pilot)
                if app._exit:  # it was left, by q or by the palette
                    return
                await _drawn_anew(pilot)
            await _left(pilot, app)
    except BaseException as error:
        error.add_note("played:\n" + "\n".join(played))
        raise


def _stroke(dice: random.Random, size: tuple[int, int]) -> bytes:
    """Return what the terminal sends for a key, a random character or a paste."""
    kind = dice.random()
    x, y = dice.randrange(size[0]), dice.randrange(size[1])
    if kind < 0.35:
        return keys.to_bytes(dice.choice(_NAMES))
    if kind < 0.75:
        letter = dice.choice(_LETTERS)
        return b"" if letter == "q" and dice.random() < 0.9 else letter.encode()
    if kind < 0.80:
        letter = dice.choice(_CONTROLS)
        return b"" if letter == "q" and dice.random() < 0.9 else keys.to_bytes(f"ctrl+{letter}")
    if kind < 0.85:
        return dice.choice(_PANES).encode()
    if kind < 0.92:
        return keys.click(x, y, dice.choice((0, 0, 0, 1, 2)))
    if kind < 0.95:
        return keys.wheel(x, y, up=dice.random() < 0.5)
    if kind < 0.97:
        text = "".join(dice.choice(_LETTERS + _FOREIGN + "\n\t") for _ in range(dice.randrange(200)))
        return b"\x1b[200~" + text.encode() + b"\x1b[201~"
    if kind < 0.99:
        return dice.choice(_FOREIGN).encode()
    return dice.choice(_STRAY)


def _type(app: StagedApp, data: bytes, dice: random.Random) -> None:
    """Send bytes as the driver does: cut at random, decoded, parsed."""
    from codecs import getincrementaldecoder  # noqa: PLC0415

    decode, parser = getincrementaldecoder("utf-8")("replace").decode, XTermParser()
    driver = app._driver
    assert driver is not None
    cut = dice.randrange(len(data) + 1)
    for part in (data[:cut], data[cut:]):
        text = decode(part)
        if text:
            for message in parser.feed(text):
                driver.process_message(message)
    for message in parser.tick():
        driver.process_message(message)


def _resize(app: StagedApp, size: tuple[int, int]) -> None:
    from textual import events  # noqa: PLC0415

    driver = app._driver
    assert driver is not None
    driver._size = size
    app.post_message(events.Resize(Size(*size), Size(*size)))


async def _calm(pilot: Any) -> None:
    """Wait until all input is handled, and a new window size is drawn."""
    app = pilot.app
    async with asyncio.timeout(_CALM_S):
        while not _fits(app):
            await pilot.pause(0.005)
        for _ in range(3):
            await asyncio.sleep(0)  # what came from a thread's call is in the queue now
            await pilot.pause()
    if app._exception is not None:
        raise app._exception


def _fits(app: StagedApp) -> bool:
    """Whether the window's size has reached the screen; Textual passes it on when nothing else is to do."""
    if app._exit or app._exception is not None or app._driver is None:
        return True
    size = app._driver._size or app.size
    return app.size == size and (len(app.screen_stack) > 1 or app.main._drawn == app.size)


async def _drawn_anew(pilot: Any) -> None:
    """Assert that the screen is what a complete redraw shows."""
    app = pilot.app
    if isinstance(app.screen, Palette):
        return  # it searches by and by
    loop = app.session.loop
    take, loop._on_report = loop._on_report, str  # what comes meanwhile is not for this picture
    try:
        for _ in range(_TRIES):
            await _calm(pilot)
            before, shown = _state(app), _CLOCK.sub("", screen_text(pilot))
            app.screen.refresh(layout=True)
            await _calm(pilot)
            anew = _CLOCK.sub("", screen_text(pilot))
            if _state(app) == before:  # else something that was under way has ended in between
                break
        assert shown == anew, f"shown:\n{shown}\ndrawn anew:\n{anew}"
    finally:
        loop._on_report = take


def _state(app: StagedApp) -> tuple[object, ...]:
    """Return what changes when something that was started has ended."""
    main = app.main
    scrolled = [widget.scroll_offset for widget in app.screen.query("*")]
    return _Shown.count, len(main.events), main._message, app.report, len(app.screen_stack), scrolled


async def _left(pilot: Any, app: StagedApp) -> None:
    """Assert that Esc closes all dialogs and q exits."""
    for _ in range(12):
        if len(app.screen_stack) == 1:
            break
        await pilot.press("escape")
        await _calm(pilot)
    assert len(app.screen_stack) == 1, f"Esc does not lead out of {app.screen}"
    app.main.focus_pane()
    await pilot.press("q")
    await until(pilot, lambda: app._exit, "the end")
    assert app.return_code == 0
