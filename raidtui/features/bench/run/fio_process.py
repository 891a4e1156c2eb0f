"""fio as a child: started, read while it runs, ended for sure."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from raidtui.features.bench.option_texts import refuse
from raidtui.features.bench.results.run_record import RunSample
from raidtui.features.bench.run.fio_stream import Dump, Meter, StreamParser
from raidtui.host.readers.host_reader import HostReader
from raidtui.host.tool_version import read_version
from raidtui.host.tools import tool_path
from raidtui.jobs.sandbox import Kept, Sandbox, kill_tree, started
from raidtui.jobs.sandbox_launcher import NOT_STARTED
from raidtui.model.answer import Answer
from raidtui.model.plan import Refusal, RefusalCode
from raidtui.model.refuse_silence import refuse_silence

INTERVAL_MS = 250
_LOOK_S = 0.1
_VERSION = re.compile(r"fio-([0-9]{1,3})\.([0-9]{1,4})")
_END_S = 15.0
_PIECE = 1 << 16
_MOST_ERRORS = 1 << 16


class FioEnd(Struct, frozen=True, kw_only=True):
    """How fio ended.

    Args:
        status: its exit status; negative where a signal ended it; None where it had to be killed.
        dump: the last complete object.
        raw: that object as it was printed.
        said: its other output.
        stopped: whether it was asked to end.
        broken: how many objects could not be read.
        cpu_s: CPU time of fio and its children, user and system; None where it was not measured.
        kept: which parts of its sandbox held.
    """

    status: int | None
    dump: Dump | None
    raw: bytes
    said: tuple[str, ...]
    stopped: bool = False
    broken: int = 0
    cpu_s: float | None = None
    kept: Kept = Kept()


def fio_argv(options: Sequence[str], *, read_only: bool) -> tuple[str, ...]:
    """Return fio's command with the options for its live output.

    ``--thread`` comes before a job file: jobs that are processes would outlive a fio that is killed.
    """
    return (
        "fio",
        "--output-format=json+",
        f"--status-interval={INTERVAL_MS}ms",
        "--eta=never",
        "--thread=1",
        *(("--readonly",) if read_only else ()),
        *options,
    )


def run_fio(
    argv: Sequence[str],
    sandbox: Sandbox,
    take: Callable[[RunSample], None],
    stopped: Callable[[], bool] = lambda: False,
    *,
    job_file: str = "",
) -> FioEnd:
    """Run fio and read its stream; return when fio and all its children have ended.

    It runs in a session of its own, and also ends when this process does.

    Args:
        argv: as ``fio_argv`` returns it.
        sandbox: what it may do: its folder or its device.
        take: called with new samples.
        stopped: whether it shall end: asked ten times a second.
        job_file: what it reads on its standard input, if its file is ``-``.

    Raises:
        OSError: fio cannot be started.
    """
    path = tool_path(argv[0])
    if path is None:
        raise FileNotFoundError(2, "fio is not installed", argv[0])
    with contextlib.ExitStack() as files:
        written = files.enter_context(tempfile.TemporaryFile())  # a pipe could fill up before it is read
        written.write(job_file.encode())
        written.flush()
        again = Path("/proc/self/fd", str(written.fileno()))
        tool = files.enter_context(again.open("rb"))  # it cannot be written to
        with started(sandbox, (path, *argv[1:]), stdin=tool) as (process, kept):
            end = _watch(process, take, stopped)
            return replace(end, kept=kept())


class _Output:
    """Both outputs of a process, as they arrive."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._selector = selectors.DefaultSelector()
        for number, stream in enumerate((process.stdout, process.stderr)):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                self._selector.register(stream, selectors.EVENT_READ, number)

    def read(self) -> list[tuple[int, bytes]]:
        """Wait briefly and return what has arrived: (0 stdout or 1 stderr, data)."""
        found = []
        for key, _ in self._selector.select(_LOOK_S):
            data = os.read(key.fd, _PIECE)
            if data:
                found.append((int(key.data), data))
            else:
                self._selector.unregister(key.fileobj)
        return found

    @property
    def open(self) -> bool:
        """Whether more output may arrive."""
        return bool(self._selector.get_map())

    def close(self) -> None:
        self._selector.close()


def _watch(
    process: subprocess.Popen[bytes], take: Callable[[RunSample], None], stopped: Callable[[], bool]
) -> FioEnd:
    parser, meter, output = StreamParser(), Meter(), _Output(process)
    last: Dump | None = None
    errors, asked_s, killed = b"", 0.0, False

    def got(dumps: list[Dump]) -> Dump | None:
        for dump in dumps:
            sample = meter.take(dump)
            if sample is not None:
                take(sample)
        return dumps[-1] if dumps else last

    try:
        while output.open:
            for is_error, data in output.read():
                if is_error:
                    errors = (errors + data)[-_MOST_ERRORS:]
                else:
                    last = got(parser.feed(data))
            if not asked_s and stopped():
                asked_s = time.monotonic()
                process.send_signal(signal.SIGINT)
            elif asked_s and not killed and time.monotonic() - asked_s > _END_S:
                killed = True
                kill_tree(process)
        last = got(parser.close())
    finally:
        output.close()
    said = (*errors.decode("utf-8", "replace").split("\n"), *parser.said)
    cpu_s = None if killed else _cpu_s(process)
    status = None if killed else process.wait()
    return FioEnd(
        status=STOPPED - status if status is not None and status > STOPPED else status,
        cpu_s=cpu_s,
        dump=last,
        raw=parser.last,
        said=tuple(line.strip() for line in said if line.strip()),
        stopped=bool(asked_s),
        broken=parser.broken,
    )


def _cpu_s(process: subprocess.Popen[bytes]) -> float | None:
    """Wait until fio has ended, and return the CPU time of it and its children before it is forgotten.

    The process is the one that has started fio: what it needed itself does not count.
    """
    import psutil  # noqa: PLC0415  (a worker alone needs it)

    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    with contextlib.suppress(psutil.Error):
        times = psutil.Process(process.pid).cpu_times()
        return round(times.children_user + times.children_system, 2) or None
    return None


LEAST = (3, 1)
STOPPED = 128
"""fio's exit status after SIGINT or SIGTERM."""
_OPTION = re.compile(r"unrecognized option '(?:--)?([^'=]+)|Bad option <([^>=]+)")
_VALUE = re.compile(r"failed parsing (\S+)")
_DROPPED = re.compile(r"job (\S+) dropped")
_ENGINE = re.compile(r"engine (\S+) not loadable")
_SANDBOX = re.compile("^sandbox: (.*)$", re.MULTILINE)
_ERRNO = re.compile(r"\berr=([0-9]{1,3})\b")
_MEANINGS = {
    errno.ENOSPC: "there is no space left at {where}; choose a smaller size, or make room",
    errno.EDQUOT: "the quota at {where} is used up; choose a smaller size, or make room",
    errno.EROFS: "the file system at {where} is read-only; remount it, or choose another folder",
    errno.EACCES: "{where} is not writable by this user; choose another folder, or use sudo",
    errno.EPERM: "{where} is not writable by this user; choose another folder, or use sudo",
    errno.EINVAL: "{where} does not accept such requests: direct I/O needs blocks of whole sectors, and some"
    " file systems do not support it; try larger blocks, or use the page cache (--no-direct)",
    errno.EIO: "{where} failed with an I/O error; see the kernel log",
    errno.ENODEV: "{where} is gone",
    errno.ENXIO: "{where} is gone",
    errno.EFBIG: "the file would be larger than {where} allows; choose a smaller size",
    errno.ENOMEM: "there is not enough memory; choose a smaller depth, or fewer jobs",
    errno.EAGAIN: "the kernel accepts no more requests (fs.aio-max-nr); choose a smaller depth",
}


def read_fio_version(reader: HostReader) -> Answer[tuple[int, ...]]:
    """Return fio's version, (3, 33)."""
    return read_version(reader, "fio", _VERSION)


def refuse_fio(answer: Answer[tuple[int, ...]]) -> Refusal | None:
    """Return why fio cannot be used, or None.

    Args:
        answer: as ``read_fio_version`` returns it.
    """
    if refusal := refuse_silence(answer, package="fio"):
        return refusal
    version = answer.value or ()
    if version < LEAST:
        have, want = (".".join(map(str, each)) for each in (version, LEAST))
        return refuse(
            f"fio {have} is too old: its status output has no latencies in nanoseconds",
            f"install fio {want} or newer",
            code=RefusalCode.NO_TOOL,
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
        return "stopped before it finished"
    code = next((each for each in errors if each), 0)
    text = "\n".join(said)
    if not code and (found := _ERRNO.search(text)):
        code = int(found[1])
    if code:
        known = _MEANINGS.get(code)
        return known.format(where=where) if known else f"{where}: {os.strerror(code)}"
    if status == 0:
        return ""
    if status == NOT_STARTED and (found := _SANDBOX.search(text)):
        return f"fio was not started: {found[1]}"
    if status is None:
        return "fio did not stop when asked to and was killed"
    if status < 0:
        return f"fio was killed by {_signal_name(-status)}"
    if status == STOPPED:
        return "fio was stopped by another process"
    return _said(text, said) or f"fio exited with status {status} and printed nothing"


def _said(text: str, said: Sequence[str]) -> str:
    if found := _OPTION.search(text):
        return f"fio does not know the option {found[1] or found[2]}; leave it out, or use a newer fio"
    if found := _ENGINE.search(text):
        return f"fio has no engine {found[1]} here; choose another one"
    if found := _VALUE.search(text):
        return f"fio does not accept {found[1]}"
    if found := _DROPPED.search(text):
        return f"fio does not accept the job {found[1]}: {said[0].removeprefix('fio: ')}"
    return f"fio: {said[-1].removeprefix('fio: ')}" if said else ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
