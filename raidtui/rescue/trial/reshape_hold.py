"""Holds a reshape that mdadm has continued in a trial: what has been moved by then is looked at."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

from raidtui.host.roots.root import Root


def hold_reshape(root: Root, array: str) -> None:
    """Freeze a reshape, and end the mdadm that watches it: after 10 s it would let it continue.

    Nothing is done where the reshape has come to its end.

    Args:
        root: the host.
        array: the kernel's name of the trial's array.
    """
    with contextlib.suppress(OSError):
        root.write(f"/sys/block/{array}/md/sync_action", "frozen")
    for pid in _watchers(f"/dev/{array}"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _watchers(path: str) -> Iterator[int]:
    """Yield the processes of mdadm that were started with the path of a trial's array."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            words = (entry / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
        except OSError:
            continue
        if Path(words[0]).name.startswith("mdadm") and path in words:
            yield int(entry.name)
