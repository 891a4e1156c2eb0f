"""What a rescue trial does to a host beside the steps of its plan.

All that a trial makes has a name of its own (``trial_traces``), and this writer touches nothing without it:
whatever it is asked, an array, a file or a mount of anyone else is out of its reach.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from raidtui.host.maps import read_loops, stands_on
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.tools import ToolOutput
from raidtui.host.trial_traces import PREFIX, SHADOW, is_shadowed
from raidtui.jobs.host_writer import HostWriter

_ATTRIBUTES = frozenset({"sync_action", "sync_max", "array_state"})
_OWN = re.compile(rf"/(?:[^/]+/)*(?:01-)?{PREFIX}[^/]+(?:/[^/]+)*")
_UP = re.compile(r"(?:^|/)\.\.(?:/|$)")
_UDEV = (("control", "--reload"), ("trigger", "--action=change", "/sys/class/mem/null"))
_Words = Sequence[str]


class TrialWriter:
    """Writes to what belongs to trials.

    Args:
        host: the host.
    """

    def __init__(self, host: HostReader) -> None:
        self._host = host
        self._writer = HostWriter(host)
        self._rules: Mapping[str, Callable[[_Words], bool]] = {
            **dict.fromkeys(("mkdir", "rmdir", "rm", "umount", "truncate"), self._all_own),
            "mount": lambda words: _is_own(words[-1]),
            "losetup": self._is_own_loop,
            "dmsetup": lambda words: words[0] in {"create", "remove"} and _named(words).startswith(PREFIX),
            "mdadm": lambda words: words[0] == "--stop" and self._is_own_array(words[-1]),
            "blockdev": lambda words: words[0] == "--flushbufs",
            "modprobe": lambda words: words[0] == "--all",
            "udevadm": lambda words: tuple(words) in _UDEV,
        }

    def run(self, *argv: str, timeout_s: float = 20.0) -> ToolOutput:
        """Run a tool on what is a trial's.

        Raises:
            ValueError: it is not a trial's.
        """
        rule = self._rules.get(argv[0])
        if rule is None or not argv[1:] or not rule(argv[1:]):
            raise ValueError(f"this is not a trial's: {' '.join(argv)}")
        return self._writer.run(*argv, timeout_s=timeout_s)

    def write(self, array: str, attribute: str, text: str) -> None:
        """Write to an attribute in the md folder of an array that a trial has made.

        Raises:
            OSError: as the kernel gave it.
            ValueError: the array is not a trial's, or no trial writes to that attribute.
        """
        if attribute not in _ATTRIBUTES or not self._is_own_array(f"/dev/{array}"):
            raise ValueError(f"this is not a trial's: {attribute} of {array}")
        self._writer.write(f"/sys/block/{array}/md/{attribute}", text)

    def end_watchers(self, array: str) -> None:
        """Kill the mdadm that watches the reshape of a trial's array: it would let it continue."""
        for pid in _watchers(f"/dev/{array}") if self._is_own_array(f"/dev/{array}") else ():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _is_own_array(self, path: str) -> bool:
        return any(each.startswith(PREFIX) for each in stands_on(self._host, path.removeprefix("/dev/")))

    def _is_own_loop(self, words: _Words) -> bool:
        if words[0] == "--detach":
            return _is_own(read_loops(self._host).get(words[-1].removeprefix("/dev/"), ""))
        return words[0] == "--find" and _is_own(words[-1])

    def _all_own(self, words: _Words) -> bool:
        paths = [word for word in words if word.startswith("/")]
        return bool(paths) and all(_is_own(each) or self._is_shadow(each) for each in paths)

    def _is_shadow(self, path: str) -> bool:
        return path == SHADOW and is_shadowed(self._host)


def _is_own(path: str) -> bool:
    return _OWN.fullmatch(path) is not None and not _UP.search(path)


def _named(words: _Words) -> str:
    """Return the name in the words of ``dmsetup create`` and ``remove``."""
    return next((word for word in words[1:] if not word.startswith("-")), "")


def _watchers(path: str) -> Iterator[int]:
    """Yield the processes of mdadm that were started with the path of an array."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            words = (entry / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
        except OSError:
            continue
        if Path(words[0]).name.startswith("mdadm") and path in words:
            yield int(entry.name)
