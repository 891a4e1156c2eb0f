"""Tools that may take hours: they are ended when the trial is cancelled, and with its worker."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from raidtui.host.tools import tool_path

_PACE_S = 0.05
_GRACE_S = 60.0
_MOST_BYTES = 1 << 20
_LAST_BYTES = 4096
_FOLDERS = "/usr/sbin:/sbin:/usr/bin:/bin"


class PatientEnd(Struct, frozen=True, kw_only=True):
    """How a tool ended.

    Args:
        status: its exit status; None where it was ended, or could not be run.
        tail: the last of what it wrote.
        why: why there is no status.
        flooded: whether it was ended because it wrote too much: a check that finds errors without end.
        missing: whether it is not installed.
    """

    status: int | None
    tail: str = ""
    why: str = ""
    flooded: bool = False
    missing: bool = False


def run_patiently(
    argv: tuple[str, ...],
    output: Path,
    cancelled: Callable[[], bool],
    *,
    gently: bool = False,
    stdin: str = "",
) -> PatientEnd:
    """Run a tool until it ends; its output goes to a file.

    Args:
        argv: the tool, without a shell.
        output: the file.
        cancelled: whether to end it; it is asked all the time.
        gently: whether it is asked to end (SIGTERM), so that it can note how far it is, and may write any
            amount; else it is killed.
        stdin: what it reads, a few KiB at most.

    Raises:
        OSError: the file cannot be written.
    """
    path, setpriv = tool_path(argv[0]), tool_path("setpriv")
    if path is None:
        return PatientEnd(status=None, why=f"{argv[0]} is not installed", missing=True)
    # Without it, a tool outlives a worker that is killed, and keeps the trial's devices busy.
    before = (setpriv, "--pdeathsig", "TERM" if gently else "KILL", "--") if setpriv else ()
    with output.open("wb") as file:
        process = subprocess.Popen(
            (*before, path, *argv[1:]),
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            env={"LC_ALL": "C", "LANG": "C", "PATH": _FOLDERS},
            start_new_session=True,
        )
        try:
            if process.stdin is not None:
                with contextlib.suppress(BrokenPipeError), process.stdin as reads:
                    reads.write(stdin.encode())
            while process.poll() is None:
                if cancelled():
                    return PatientEnd(status=None, tail=_tail(output), why="cancelled")
                if not gently and os.fstat(file.fileno()).st_size > _MOST_BYTES:
                    return PatientEnd(status=None, tail=_tail(output), why="too many errors", flooded=True)
                time.sleep(_PACE_S)
        finally:
            if process.poll() is None and gently:
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_GRACE_S)
            if process.poll() is None:
                process.kill()
                process.wait()
    return PatientEnd(status=process.returncode, tail=_tail(output))


def _tail(output: Path) -> str:
    with output.open("rb") as file:
        file.seek(max(0, output.stat().st_size - _LAST_BYTES))
        return file.read().decode("utf-8", "replace").strip()
