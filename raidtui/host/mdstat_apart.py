"""/proc/mdstat, read by a process of its own: where a member does not answer, who reads it waits for ever.

To print a bitmap md takes a lock that its bitmap daemon holds while it waits for a member (drivers/md/md.c,
md_seq_show; md-bitmap.c, bitmap_daemon_work); run on Debian's 6.1.0-56. Neither a signal nor the end of the
process ends that, so it must be another process than the one that is to end. md's files in sysfs do not wait.
"""

from __future__ import annotations

import errno
import os
import select
import sys
import time
from _thread import allocate_lock  # threading and pathlib would delay the first frame

MDSTAT = "/proc/mdstat"
_PATIENCE_S = 3.0
"""So long without a break the process has to wait in the kernel before md is said not to answer."""
_LONGEST_S = 15.0
"""How long a process is waited for that does not wait in the kernel itself: the host may be busy."""
_PACE_S = 0.25
_HEAD_BYTES = 8
_CHUNK = 65536
_SCRIPT = """
import os, sys
os.write(1, bytes(8))
while os.read(0, 1):
    found = b""
    try:
        file = os.open(sys.argv[1], os.O_RDONLY)
        while part := os.read(file, 65536):
            found += part
        os.close(file)
        head = len(found)
    except OSError as error:
        found, head = b"", -error.errno
    os.write(1, head.to_bytes(8, "little", signed=True) + found)
"""
"""Each byte asks for the file; the answer is its length, or minus the error's number, and the file.

The first answer, of nothing, is that it has started.
"""


class MdstatReader:
    """Reads the file through a process that is started when it is first asked, and ends with this one."""

    def __init__(self, path: str = MDSTAT) -> None:
        self._path = path
        self._lock = allocate_lock()
        self._pid = self._owner = self._questions = self._answers = 0
        self._asked_s: float | None = None
        self._read = b""

    def read(self) -> bytes:
        """Return the file; read by this process itself where the other one does not start, or was killed.

        Raises:
            OSError: as the kernel gave it; TimeoutError where it does not answer, at once while a question of
                before is not answered yet.
        """
        with self._lock:
            try:
                if self._owner != os.getpid():
                    if self._owner:
                        self._end()
                    self._start()
                if self._asked_s is not None and self._answer(0.0) is None:
                    raise self._silence()
                os.write(self._questions, b"?")
                self._asked_s = time.time()
                found = self._answer(_LONGEST_S)
            except BrokenPipeError:
                self._end()
                return self._read_here()
            if found is None:
                raise self._silence()
        head = int.from_bytes(found[:_HEAD_BYTES], "little", signed=True)
        if head < 0:
            raise OSError(-head, os.strerror(-head), self._path)
        return found[_HEAD_BYTES:]

    def _read_here(self) -> bytes:
        found = b""
        with open(self._path, "rb", buffering=0) as file:  # noqa: PTH123  (pathlib, as above)
            while part := file.read(_CHUNK):
                found += part
        return found

    def _end(self) -> None:
        """Let go of a process that has ended."""
        os.close(self._questions)
        os.close(self._answers)
        if self._pid and self._owner == os.getpid():
            os.waitpid(self._pid, os.WNOHANG)
        self._owner = 0

    def _start(self) -> None:
        theirs, self._questions = os.pipe2(os.O_CLOEXEC)
        self._answers, ours = os.pipe2(os.O_CLOEXEC)
        nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        places = [(os.POSIX_SPAWN_DUP2, each, place) for place, each in enumerate((theirs, ours, nowhere))]
        self._owner, self._asked_s, self._read = os.getpid(), None, b""
        try:
            self._pid = os.posix_spawn(
                sys.executable,
                (sys.executable, "-ISc", _SCRIPT, self._path),
                os.environ,
                file_actions=places,
                setsid=True,
            )
        except OSError as error:
            self._pid = 0
            raise BrokenPipeError from error
        finally:
            for each in (theirs, ours, nowhere):
                os.close(each)
        if self._answer(_LONGEST_S) is None:
            from signal import SIGKILL  # noqa: PLC0415  (its enum takes half as long as the first frame)

            os.kill(self._pid, SIGKILL)
            raise BrokenPipeError

    def _answer(self, longest_s: float) -> bytes | None:
        """Return the answer to the last question; None where there is none in time."""
        waiting, begun_s = select.poll(), time.monotonic()
        runs_s = begun_s
        waiting.register(self._answers, select.POLLIN)
        while len(self._read) < _HEAD_BYTES or len(self._read) < self._whole():
            if waiting.poll(min(_PACE_S, longest_s) * 1000):
                part = os.read(self._answers, _CHUNK)
                if not part:
                    raise BrokenPipeError
                self._read += part
                continue
            now_s = time.monotonic()
            runs_s = runs_s if self._hangs() else now_s
            if now_s - begun_s >= longest_s or now_s - runs_s > _PATIENCE_S:
                return None
        found, self._read, self._asked_s = self._read, b"", None
        return found

    def _whole(self) -> int:
        return _HEAD_BYTES + max(0, int.from_bytes(self._read[:_HEAD_BYTES], "little", signed=True))

    def _hangs(self) -> bool:
        """Whether the process waits in the kernel, and for what no signal ends."""
        try:
            with open(f"/proc/{self._pid}/stat", "rb") as file:  # noqa: PTH123  (pathlib, as above)
                return file.read().rpartition(b") ")[2][:1] == b"D"
        except OSError:
            return False

    def _silence(self) -> TimeoutError:
        begun = time.strftime("%H:%M", time.localtime(self._asked_s))
        return TimeoutError(errno.ETIMEDOUT, f"it has not answered since {begun}", self._path)


_READER = MdstatReader()


def read_mdstat() -> bytes:
    """Return /proc/mdstat of the live host; see ``MdstatReader.read``."""
    return _READER.read()
