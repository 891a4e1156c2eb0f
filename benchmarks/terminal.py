"""The terminal: keys, the answers of an xterm, and the screen that the output draws.

Sources: xterm's ctlseqs (queries, modes, keys); synchronized output, mode 2026, is known to this terminal.
"""

import re
from copy import deepcopy
from typing import Any

import pyte

ALTERNATE_SCREEN = (47, 1047, 1049)
CURSOR_SHOWN = 25
SYNCHRONIZED = 2026
MOUSE = (9, 1000, 1001, 1002, 1003, 1005, 1006, 1015, 1016)
LEFT_SET_MATTERS = (*ALTERNATE_SCREEN, *MOUSE, 1004, 2004, 2026, 2048)
PRIVATE_SHIFT = 5  # pyte keeps the private mode n as n << 5

_KEYS = {
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "enter": "\r",
    "tab": "\t",
    "esc": "\x1b",
    "space": " ",
    "f10": "\x1b[21~",
}
_ARROWS = ("up", "down", "right", "left", "home", "end")
_QUERY = re.compile(
    rb"\x1b\[(?P<primary>0?c)|\x1b\[(?P<secondary>>0?c)|\x1b\[(?P<report>[56])n|\x1b\[\?(?P<mode>\d+)\$p"
    rb"|\x1b\[(?P<window>14|16|18)t|\x1b\](?P<colour>1[01]);\?(?:\x07|\x1b\\)|\x1b\[(?P<name>>0?q)"
    rb"|\x1bP\+q(?P<capability>[0-9A-Fa-f;]*)\x1b\\"
)
_MODE = re.compile(rb"\x1b\[\?([\d;]+)([hl])")
# What the emulator would print or stumble over: strings (DCS, SOS, PM, APC), CSI with <, =, > or a colon,
# private SGR.
_FOREIGN = re.compile(
    rb"\x1b[PX^_].*?(?:\x1b\\|\x07)|\x1b\[[<=>][\d;]*[ -/]*[@-~]|\x1b\[[\d;]*:[\d;:]*[@-~]"
    rb"|\x1b\[\?[\d;]*[mu]",
    re.DOTALL,
)
_CUT = re.compile(rb"\x1b(?:\[[\d;:?<=>]*[ -/]*|[PX^_](?:(?!\x1b\\)[^\x07])*)?\Z", re.DOTALL)


def key_bytes(name: str, *, application_cursor: bool) -> bytes:
    """What a terminal sends for `down`, `ctrl+q`, `x`."""
    if name in _KEYS:
        text = _KEYS[name]
        return (text.replace("[", "O", 1) if application_cursor and name in _ARROWS else text).encode()
    if name.startswith("ctrl+"):
        return bytes([ord(name[-1]) & 0x1F])
    return name.encode()


class Answers:
    """Finds the queries in a stream of bytes, and the answers of an xterm."""

    def __init__(self, *, columns: int, lines: int) -> None:
        """Start with an empty stream, for a window of this size in cells."""
        self._columns, self._lines = columns, lines
        self._tail = b""
        self.application_cursor = False

    def to(self, data: bytes) -> bytes:
        """Return the answers to the queries that `data` completes."""
        if b"\x1b" not in data and not self._tail:
            return b""
        buffer = self._tail + data
        on, off = buffer.rfind(b"\x1b[?1h"), buffer.rfind(b"\x1b[?1l")
        if on != off:
            self.application_cursor = on > off
        matches = list(_QUERY.finditer(buffer))
        rest = buffer[matches[-1].end() :] if matches else buffer
        cut = _CUT.search(rest)
        self._tail = rest[cut.start() :] if cut else b""
        return b"".join(self._answer(match) for match in matches)

    def _answer(self, match: re.Match[bytes]) -> bytes:
        kind, value = match.lastgroup, match[match.lastgroup or 0]
        if kind == "mode":
            return b"\x1b[?%s;%d$y" % (value, 2 if int(value) == SYNCHRONIZED else 0)
        if kind == "window":
            height, width = {b"14": (self._lines * 20, self._columns * 10), b"16": (20, 10)}.get(
                value, (self._lines, self._columns)
            )
            return b"\x1b[%d;%d;%dt" % (int(value) - 10, height, width)
        if kind == "colour":
            return b"\x1b]%s;rgb:%s\x1b\\" % (value, b"/".join([b"cccc" if value == b"10" else b"0000"] * 3))
        return {
            "primary": b"\x1b[?64;1;2;6;9;15;22c",
            "secondary": b"\x1b[>41;390;0c",
            "report": b"\x1b[0n" if value == b"5" else b"\x1b[1;1R",
            "name": b"\x1bP>|XTerm(390)\x1b\\",
            "capability": b"\x1bP0+r\x1b\\",
        }[kind or ""]


class _Emulator(pyte.Screen):  # type: ignore[misc, unused-ignore]
    """pyte's screen with an alternate screen: entering clears it, leaving restores the other one."""

    _main: Any = None

    def set_mode(self, *modes: int, **kwargs: Any) -> None:  # noqa: ANN401 - pyte's signature
        super().set_mode(*modes, **kwargs)
        if kwargs.get("private") and set(modes) & set(ALTERNATE_SCREEN):
            if self._main is None:
                self._main = deepcopy(self.buffer)
            self.erase_in_display(2)

    def reset_mode(self, *modes: int, **kwargs: Any) -> None:  # noqa: ANN401 - pyte's signature
        super().reset_mode(*modes, **kwargs)
        if kwargs.get("private") and set(modes) & set(ALTERNATE_SCREEN) and self._main is not None:
            self.buffer, self._main = self._main, None


class Screen:
    """What a person would see after some bytes have arrived."""

    def __init__(self, *, columns: int, lines: int) -> None:
        """Begin with a blank screen of this size."""
        self._screen = _Emulator(columns, lines)
        self._stream = pyte.ByteStream(self._screen)
        self._held = b""
        self.trouble = 0

    def feed(self, data: bytes) -> None:
        """Show `data`; what the emulator cannot handle is counted in `trouble`, never raised."""
        data = self._held + data
        cut = _CUT.search(data)
        self._held = data[cut.start() :] if cut else b""
        if cut:
            data = data[: cut.start()]
        try:
            self._stream.feed(_FOREIGN.sub(b"", data))
        except Exception:  # noqa: BLE001 - one odd sequence must not end a measurement
            self.trouble += 1
            self._stream = pyte.ByteStream(self._screen)

    @property
    def held_back(self) -> bool:
        """Whether the program has asked the terminal to show nothing until it is ready (mode 2026)."""
        return SYNCHRONIZED << PRIVATE_SHIFT in self._screen.mode

    def inked_cells(self) -> int:
        """How many cells hold something but a space."""
        rows = self._screen.buffer.values()
        return sum(1 for row in rows for cell in row.values() if cell.data not in {" ", ""})

    def text(self) -> str:
        """The characters, line by line, without trailing spaces."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    def cells(self) -> tuple[tuple[Any, ...], ...]:
        """Characters and colours of every cell, to distinguish two screens."""
        width, height = range(self._screen.columns), range(self._screen.lines)
        return tuple(tuple(self._screen.buffer[y][x] for x in width) for y in height)


def modes_left(stream: bytes) -> tuple[str, ...]:
    """The modes, in words, that an ended program's output leaves switched wrongly."""
    last: dict[int, bool] = {}
    for match in _MODE.finditer(stream):
        for number in match[1].split(b";"):
            if number:
                last[int(number)] = match[2] == b"h"
    wrong = [number for number in LEFT_SET_MATTERS if last.get(number)]
    words = {
        **dict.fromkeys(ALTERNATE_SCREEN, "alternate screen"),
        **dict.fromkeys(MOUSE, "mouse"),
        1004: "focus reports",
        2004: "bracketed paste",
        2026: "synchronized output",
        2048: "resize reports",
    }
    left = [words[number] for number in wrong]
    if last.get(CURSOR_SHOWN) is False:
        left.append("cursor hidden")
    return tuple(dict.fromkeys(left))
