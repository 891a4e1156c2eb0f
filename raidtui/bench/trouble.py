"""Why fio did not do what it was asked to, in a sentence. Pure.

fio's messages are read where they are known; others are told as they are.
"""

from __future__ import annotations

import errno
import os
import re
import signal
from collections.abc import Sequence

from raidtui.model.plan import Refusal, RefusalCode

LEAST = (3, 1)
STOPPED = 128
"""fio's exit status after SIGINT or SIGTERM."""
_OPTION = re.compile(r"unrecognized option '(?:--)?([^'=]+)|Bad option <([^>=]+)")
_VALUE = re.compile(r"failed parsing (\S+)")
_DROPPED = re.compile(r"job (\S+) dropped")
_ENGINE = re.compile(r"engine (\S+) not loadable")
_ERRNO = re.compile(r"\berr=([0-9]{1,3})\b")
_MEANINGS = {
    errno.ENOSPC: "there is no space left at {where}; choose a smaller size, or make room",
    errno.EDQUOT: "the quota at {where} is used up; choose a smaller size, or make room",
    errno.EROFS: "the file system at {where} is read-only; remount it, or choose another folder",
    errno.EACCES: "{where} may not be written to by this user; choose another folder, or use sudo",
    errno.EPERM: "{where} may not be written to by this user; choose another folder, or use sudo",
    errno.EINVAL: "{where} does not take such requests: direct I/O wants blocks of whole sectors, and some"
    " file systems take none; try larger blocks, or go through the page cache (--no-direct)",
    errno.EIO: "{where} failed with an I/O error; see the kernel log",
    errno.ENODEV: "{where} is gone",
    errno.ENXIO: "{where} is gone",
    errno.EFBIG: "the file would be larger than {where} takes; choose a smaller size",
    errno.ENOMEM: "there is not enough memory; choose a smaller depth, or fewer jobs",
    errno.EAGAIN: "the kernel takes no more requests (fs.aio-max-nr); choose a smaller depth",
}


def refuse_fio(version: tuple[int, int] | None) -> Refusal | None:
    """Return why fio cannot be used, or None.

    Args:
        version: as ``read_fio_version`` returns it.
    """
    if version is None:
        return Refusal(
            code=RefusalCode.NO_TOOL,
            why="fio is not installed",
            remedy="apt install fio, or your distribution's fio",
        )
    if version < LEAST:
        have, want = (".".join(map(str, each)) for each in (version, LEAST))
        return Refusal(
            code=RefusalCode.NO_TOOL,
            why=f"fio {have} is too old: its live stream has no latencies in nanoseconds",
            remedy=f"install fio {want} or newer",
        )
    return None


def fio_trouble(
    status: int | None, said: Sequence[str], errors: Sequence[int], *, where: str, stopped: bool = False
) -> str:
    """Return why a run is not whole, or "".

    Args:
        status: fio's exit status; negative where a signal ended it; None where it had to be killed.
        said: lines that it printed beside its JSON.
        errors: errno of each job, from its last object.
        where: the folder or device.
        stopped: whether it was asked to end.
    """
    if stopped:
        return "stopped before its end"
    code = next((each for each in errors if each), 0)
    text = "\n".join(said)
    if not code and (found := _ERRNO.search(text)):
        code = int(found[1])
    if code:
        known = _MEANINGS.get(code)
        return known.format(where=where) if known else f"{where}: {os.strerror(code)}"
    if status == 0:
        return ""
    if status is None:
        return "fio did not end when it was asked to, and was killed"
    if status < 0:
        return f"fio was ended by {_signal_name(-status)}"
    if status == STOPPED:
        return "fio was stopped by somebody else"
    return _said(text, said) or f"fio ended with status {status} and said nothing"


def _said(text: str, said: Sequence[str]) -> str:
    if found := _OPTION.search(text):
        return f"fio does not know the option {found[1] or found[2]}; leave it out, or use a newer fio"
    if found := _ENGINE.search(text):
        return f"fio has no engine {found[1]} here; choose another one"
    if found := _VALUE.search(text):
        return f"fio does not take {found[1]}"
    if found := _DROPPED.search(text):
        return f"fio does not take the job {found[1]}: {said[0].removeprefix('fio: ')}"
    return f"fio: {said[-1].removeprefix('fio: ')}" if said else ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
