"""The user's own programs, found by $PATH, with his configuration: ssh, ansible-inventory, raidtui itself.

What they change is on other hosts, and what the user has asked for there.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from typing import IO


def run_for_user(
    argv: Sequence[str],
    *,
    stdin: int | IO[bytes] | None = subprocess.DEVNULL,
    stdout: int | None = subprocess.PIPE,
    stderr: int | None = subprocess.PIPE,
    timeout_s: float | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run a program to its end; None leaves it this terminal's input or output.

    Raises:
        OSError: it cannot be run.
        subprocess.TimeoutExpired: it did not end in time, and was killed.
    """
    return subprocess.run(argv, stdin=stdin, stdout=stdout, stderr=stderr, timeout=timeout_s, check=False)


def on_terminal(argv: Sequence[str]) -> int:
    """Run a program on this terminal; return its exit status."""
    return run_for_user(argv, stdin=None, stdout=None, stderr=None).returncode


async def start_for_user(argv: Sequence[str]) -> asyncio.subprocess.Process:
    """Start a program in a session of its own, without a terminal, its words in English."""
    return await asyncio.create_subprocess_exec(
        *argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "LC_ALL": "C"},
    )


def kill_session(process: asyncio.subprocess.Process) -> None:
    """Kill such a program and all that it has started: ssh's jump hosts, too."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


@contextlib.contextmanager
def private_folder() -> Iterator[str]:
    """Give a folder for sockets of ssh, removed at the end."""
    with tempfile.TemporaryDirectory(prefix="raidtui-") as folder:
        yield folder
