"""raidtui on one of the guest's consoles."""

import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.lab.guests.boot import REPOSITORY
from tests.lab.guests.guest import Guest
from tests.lab.guests.terminal import Terminal

RAIDTUI = (sys.executable, "-m", "raidtui")
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all")
# What only the whole screen has, not the first frame: a member's state, or that there is none.
WHOLE = re.compile(r"\bin_sync\b|No md array")
START_S = 90.0


def open_console(
    guest: Guest,
    *,
    before: Sequence[str] = (),
    argv: Sequence[str] = RAIDTUI,
    cols: int = 110,
    rows: int = 40,
) -> Terminal:
    """Start raidtui (`before` stands before its argv) and wait until its screen is whole."""
    terminal = guest.terminal((*before, *argv), cols=cols, rows=rows)
    terminal.wait_for(WHOLE, timeout=START_S)
    return terminal


def row_of(terminal: Terminal, title: str) -> str:
    """Return the line of an array in the list: its title, later its level.

    Raises:
        AssertionError: it is not there; the screen is in the error.
    """
    for line in terminal.lines():
        if re.search(rf"(?<!\S){re.escape(title)}\s.*\b(raid\d+|linear)\b", line):
            return line
    raise AssertionError(f"no row of {title!r}; the screen:\n{terminal.screen()}")


def shows_row(title: str, *words: str) -> re.Pattern[str]:
    """A row of the list with these words after the title, in their order."""
    inner = "".join(rf"[^\n]*{re.escape(word)}" for word in words)
    return re.compile(rf"(?<!\S){re.escape(title)}\s[^\n]*\braid\d+\b{inner}")


def let_anyone_in(guest: Guest) -> None:
    """Let every user of the guest reach the checkout and the environment; the host's modes stay."""
    places = {str(folder) for path in (REPOSITORY, sys.prefix, sys.base_prefix) for folder in ancestors(path)}
    done = guest.run(f"chmod o+rx {shlex.join(sorted(places))}")
    assert done.status == 0, done.output


def ancestors(path: str | Path) -> list[Path]:
    """A folder and all above it, but for the root."""
    return [folder for folder in (Path(path), *Path(path).parents) if folder != Path("/")]


def kernel_text(guest: Guest, path: str) -> str:
    """Return the text of a kernel file of the guest."""
    return guest.run(f"cat {path}").stdout.strip()
