"""Halts a reshape that mdadm has continued in a trial: what has been moved by then is looked at."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from raidtui.host.md.mdstat import MdstatArray, parse_mdstat
from raidtui.host.roots.root import Root

_AHEAD_SECTORS = 256 << 11
"""How much of each member is moved on, so that md has not passed that place when the limit is written."""
_HOLD_S, _PACE_S = 120.0, 0.1


def hold_reshape(root: Root, array: str) -> str:
    """Halt a reshape that mdadm has continued; return why it does not halt, or "".

    md halts at a place and records it: where it is frozen, what was moved and is not recorded cannot be read
    (make_stripe_request waits for it). The mdadm that watches it is ended: it would let it continue. A member
    that is not much larger than what is moved on is moved to its end.

    Args:
        root: the host.
        array: the kernel's name of the trial's array.
    """
    base = f"/sys/block/{array}/md"
    moved = next(
        (each.sync.done_kib or 0 for each in _arrays(root) if each.name == array and each.sync is not None), 0
    )
    with contextlib.suppress(OSError):
        root.write(f"{base}/sync_action", "frozen")
    for pid in _watchers(f"/dev/{array}"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    chunks = [int(word.strip("()")) // 512 for word in (root.text(f"{base}/chunk_size") or "").split()]
    step = max((*chunks, 1))
    halt = (moved * 2 + _AHEAD_SECTORS) // step * step
    size = int(root.text(f"{base}/component_size") or "0") * 2
    try:
        root.write(f"{base}/sync_max", str(halt) if halt < size else "max")
        root.write(f"{base}/sync_action", "idle")
    except OSError as error:
        return f"the reshape cannot be halted: {error.strerror}"
    end_s = time.monotonic() + _HOLD_S
    while time.monotonic() < end_s:
        done = (root.text(f"{base}/sync_completed") or "").partition(" ")[0]
        over = root.text(f"{base}/reshape_position") == "none"
        if over or (done.isdigit() and halt < size and int(done) >= halt):
            return ""
        time.sleep(_PACE_S)
    return f"the reshape has not halted within {_HOLD_S:.0f} s"


def _arrays(root: Root) -> Iterable[MdstatArray]:
    return parse_mdstat(root.text("/proc/mdstat") or "").arrays


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
