"""The programs that are measured: raidtui, the empty Textual app, and the peers that this machine has."""

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.trees import CHECKOUT

TREE = "{tree}"
OURS, HELLO, WAKER = "raidtui", "hello", "bare loop"
LISTED = "── arrays ──"  # above the list in a wide window, in the first frame and later; never in the log
ALL_ARRAYS = "".join(rf"(?=.*md{number}\b)" for number in (127, 126, 125, 124))


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One program: how it is started and left, what shows that it is there, keys that change its screen."""

    name: str
    argv: tuple[str, ...]
    expect: str
    keys: tuple[str, ...]
    quit_key: str = "q"

    @property
    def missing(self) -> bool:
        """Whether it is not installed."""
        return shutil.which(self.argv[0]) is None

    def command(self, tree: Path) -> tuple[str, ...]:
        """The command line for a host tree."""
        return tuple(word.replace(TREE, str(tree)) for word in self.argv)


RAIDTUI = Program(
    name=OURS,
    argv=(sys.executable, "-m", "raidtui", "--root", TREE),
    expect=rf"\A(?s:{ALL_ARRAYS})",
    keys=("down", "up"),
)
HELLO_APP = Program(
    name=HELLO, argv=(sys.executable, "-m", "benchmarks.hello"), expect="hello, terminal", keys=("6",)
)
PEERS = (
    Program(name="htop", argv=("htop",), expect="PID", keys=("down", "up")),
    Program(name="btop", argv=("btop",), expect="cpu", keys=("down", "up")),
    Program(name="glances", argv=("glances",), expect="CPU", keys=("m", "c")),
    Program(name="dolphie", argv=("dolphie",), expect="", keys=("tab",)),
    Program(name="posting", argv=("posting",), expect="", keys=("tab",), quit_key="ctrl+c"),
)
WATCH = Program(
    name="watch 1 s",
    argv=("watch", "-n1", "cat", f"{TREE}/proc/mdstat"),
    expect="resync",
    keys=(),
    quit_key="ctrl+c",
)


def waker(every_s: int) -> Program:
    """The bare loop of `waker.py`, with the pace of a case."""
    return Program(
        name=WAKER,
        argv=(sys.executable, "-m", "benchmarks.waker", str(every_s), f"{TREE}/proc/mdstat"),
        expect="waking up",
        keys=(),
    )


def environment(scratch: Path) -> dict[str, str]:
    """Return an environment without personal settings."""
    kinds = ("CONFIG", "STATE", "CACHE", "DATA")
    private = {f"XDG_{kind}_HOME": str(scratch / kind.lower()) for kind in kinds}
    return {**private, "PYTHONPATH": str(CHECKOUT)}
