"""The fleet on a real terminal: Enter opens a host by ``raidtui ssh``, and the fleet is there again then."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from msgspec import Struct

from tests.features.fleet.sayings import array, finding, saying
from tests.features.fleet.sshd import Sshd

STAND_IN = """\
#!/bin/sh
# Stands in for the one file: it has the terminal, and waits for a key as the console does.
printf 'THE CONSOLE of %s\\r\\n' "$FLEET_HOST"
read line
printf 'SAID %s\\r\\n' "$line"
exit 3
"""


class Terminal(Struct, kw_only=True):
    """A program on a terminal of 100x30."""

    process: subprocess.Popen[bytes]
    near: int
    shown: bytes = b""

    def waits_for(self, words: str) -> None:
        """Read until these words have been shown since the last ones."""
        end_s = time.monotonic() + 60
        while words.encode() not in self.shown:
            assert time.monotonic() < end_s, f"{words!r} never came: {self.shown[-2000:]!r}"
            if select.select([self.near], [], [], 0.5)[0]:
                self.shown += os.read(self.near, 1 << 16)
        self.shown = self.shown.partition(words.encode())[2]

    def types(self, keys: bytes) -> None:
        """Type keys."""
        os.write(self.near, keys)


@contextlib.contextmanager
def on_a_terminal(*words: str) -> Iterator[Terminal]:
    """Run raidtui on a terminal, and end it."""
    near, far = pty.openpty()
    fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    process = subprocess.Popen(
        (sys.executable, "-m", "raidtui", *words),
        stdin=far,
        stdout=far,
        stderr=far,
        start_new_session=True,
        env={**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
    )
    os.close(far)
    try:
        yield Terminal(process=process, near=near)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(near)


def test_enter_opens_a_host(sshd: Sshd, tmp_path: Path) -> None:
    sshd.hosts("well", "sick", refused=("closed",), silent=("mute",))  # they are still being asked then
    sshd.answers("well", saying(array()))
    sshd.answers(
        "sick", saying(array(health="failed"), status=2, findings=[finding("failed", "data FELL OVER")])
    )
    file = tmp_path / "one.run"
    file.write_text(STAND_IN)
    words = ("fleet", "-F", sshd.config, "--file", str(file), "mute", "well", "sick", "closed")
    with on_a_terminal(*words) as terminal:
        terminal.waits_for("FELL OVER")
        terminal.types(b"\r")
        terminal.waits_for("THE CONSOLE of sick")
        terminal.types(b"hello\r")
        terminal.waits_for("SAID hello")
        terminal.waits_for("raidtui ssh ended with 3. Enter goes back to the fleet.")
        terminal.types(b"\r")
        terminal.waits_for("FELL OVER")
        terminal.types(b"q")
        assert terminal.process.wait(timeout=60) == 2


@pytest.mark.parametrize("key", [b"q", b"\x1b"], ids=["q", "Esc"])
def test_leaving_while_hosts_are_asked(sshd: Sshd, key: bytes) -> None:
    """Nothing but the terminal's old state is left: no traceback, no ssh."""
    sshd.hosts("well", silent=("mute", "dumb"))
    sshd.answers(
        "well", saying(array(health="degraded"), status=1, findings=[finding("degraded", "ONE GONE")])
    )
    with on_a_terminal("fleet", "-F", sshd.config, "mute", "dumb", "well") as terminal:
        terminal.waits_for("ONE GONE")
        assert asking(sshd) != []
        before = termios.tcgetattr(terminal.near)[3]
        terminal.types(key)
        terminal.waits_for("\x1b[?1049l")
        assert terminal.process.wait(timeout=60) == 1
        while select.select([terminal.near], [], [], 0.1)[0]:
            with contextlib.suppress(OSError):  # nobody has the terminal any more
                terminal.shown += os.read(terminal.near, 1 << 16)
                continue
            break
        assert b"Traceback" not in terminal.shown
        assert not before & termios.ECHO
        assert termios.tcgetattr(terminal.near)[3] & termios.ECHO
    assert asking(sshd) == []


def asking(sshd: Sshd) -> list[str]:
    """The command lines of ssh that are asking this sshd."""
    found = (process.info["cmdline"] or [""] for process in psutil.process_iter(["cmdline"]))
    return [" ".join(words) for words in found if Path(words[0]).name == "ssh" and sshd.config in words]
