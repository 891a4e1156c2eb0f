"""Tools that may take hours: they are ended when the trial is cancelled, and with its worker."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from raidtui.host.tools import tool_path
from raidtui.jobs.sandbox import BARE, Sandbox, started
from raidtui.jobs.sandbox_launcher import NOT_STARTED

_PACE_S = 0.05
_GRACE_S = 60.0
_MOST_BYTES = 1 << 20
_LAST_BYTES = 4096
_BY_SIGNAL = 128
_SAYS = "sandbox"


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
    sandbox: Sandbox = BARE,
) -> PatientEnd:
    """Run a tool until it ends; its output goes to a file.

    Args:
        argv: the tool, without a shell.
        output: the file.
        cancelled: whether to end it; it is asked all the time.
        gently: whether it is asked to end (SIGTERM), so that it can note how far it is, and may write any
            amount; else it is killed.
        stdin: what it reads, a few KiB at most.
        sandbox: what it may do.

    Raises:
        OSError: the file cannot be written.
    """
    path = tool_path(argv[0])
    if path is None:
        return PatientEnd(status=None, why=f"{argv[0]} is not installed", missing=True)
    reads = subprocess.PIPE if stdin else subprocess.DEVNULL
    with (
        output.open("wb") as file,
        started(sandbox, (path, *argv[1:]), stdin=reads, stdout=file, stderr=subprocess.STDOUT) as (
            process,
            _,
        ),
    ):
        try:
            if process.stdin is not None:
                with contextlib.suppress(BrokenPipeError), process.stdin as writes:
                    writes.write(stdin.encode())
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
    tail = _tail(output)
    if process.returncode == NOT_STARTED and tail.startswith(f"{_SAYS}: "):
        return PatientEnd(status=None, why=f"it could not be started in a {tail}")
    if process.returncode > _BY_SIGNAL:
        name = signal.Signals(process.returncode - _BY_SIGNAL).name
        return PatientEnd(status=None, tail=tail, why=f"it was ended by {name}")
    return PatientEnd(status=process.returncode, tail=tail)


def _tail(output: Path) -> str:
    with output.open("rb") as file:
        file.seek(max(0, output.stat().st_size - _LAST_BYTES))
        return file.read().decode("utf-8", "replace").strip()
